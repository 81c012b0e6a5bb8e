internal import Foundation
internal import Origins
internal import Shards
internal import TileBodies
internal import Tilesets

/// One open origin per tileset, so that connections and their limits are shared by all batches of this process.
actor OriginCache {
    private struct Entry {
        let tileset: Tileset
        let opening: Task<any TileOrigin, any Error>
        /// What its file was before it was opened.
        let stamp: FileStamp?
        var lastUse: Int
    }

    /// Tilesets kept open at once; the one not used for longest goes first.
    private static let limit = 8

    private let environment: [String: String]
    private let budgets: WorkerBudgets
    private let layers: LayerMemory?
    private var entries: [Digest: Entry] = [:]
    private var uses = 0

    init(environment: [String: String], budgets: WorkerBudgets = WorkerBudgets(), layers: LayerMemory? = nil) {
        self.environment = environment
        self.budgets = budgets
        self.layers = layers
    }

    /// The tileset of `canonicalJSON` and its origin, whose requests draw from the budget `name`; empty = from none.
    ///
    /// A failed opening is not kept: the next batch tries again. A file that was replaced or written to is opened anew.
    ///
    /// - Throws: ``WorkFailure``.
    func open(_ canonicalJSON: [UInt8], budget name: String) async throws -> (Tileset, any TileOrigin) {
        let key = Digest(of: canonicalJSON + Array(name.utf8))
        uses += 1
        let entry: Entry
        if let found = entries[key], found.stamp == OriginFactory.stamp(of: found.tileset) {
            entry = found
        } else {
            let tileset: Tileset
            do {
                tileset = try Tileset(canonicalJSON: canonicalJSON)
            } catch {
                throw WorkFailure(cause: "bad-tileset", detail: "\(error)", retriable: false)
            }
            // Not a child of the first batch that asks: others wait for it too, and that one may be cancelled.
            let budget = name.isEmpty ? nil : budgets.budget(name)
            let stamp = OriginFactory.stamp(of: tileset)
            let opening = Task { [environment, layers] in
                try await OriginFactory.open(tileset, environment: environment, budget: budget, layers: layers)
            }
            entry = Entry(tileset: tileset, opening: opening, stamp: stamp, lastUse: uses)
            if entries[key] == nil, entries.count >= Self.limit,
                let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                entries[oldest.key] = nil
            }
            entries[key] = entry
        }
        entries[key]?.lastUse = uses
        do {
            return (entry.tileset, try await entry.opening.value)
        } catch {
            entries[key] = nil
            throw Self.failure(error)
        }
    }

    /// Another worker may hold the file or the secret that this one lacks: all but a damaged archive may pass.
    private static func failure(_ error: any Error) -> any Error {
        guard let error = error as? OriginsError else { return error }
        let cause = error.code == .tileset ? "bad-tileset" : "origin-\(error.code)"
        let retriable = error.code != .badArchive && error.code != .unsupported
        return WorkFailure(cause: cause, detail: error.message, retriable: retriable)
    }
}
