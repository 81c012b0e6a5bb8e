internal import Blobs
internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import Origins
internal import TileBodies
internal import Tilesets

/// One open origin per tileset, so that all batches of this process share its connections and limits.
actor OriginCache {
    /// An origin as used by a batch.
    struct Opened: Sendable {
        let tileset: Tileset
        let origin: any TileOrigin
        /// The version of its data just before it was opened or reused; `nil` for servers.
        let version: String?
        private let begun = ContinuousClock.now

        init(tileset: Tileset, origin: any TileOrigin, version: String?) {
            (self.tileset, self.origin, self.version) = (tileset, origin, version)
        }
    }

    private struct Entry {
        let tileset: Tileset
        let opening: Task<any TileOrigin, any Error>
        /// The state of its file before it was opened.
        let stamp: ArchiveStamp?
        var lastUse: Int
    }

    /// Number of tilesets that stay open.
    ///
    /// The least recently used one is closed first.
    private static let limit = 8

    private let environment: [String: String]
    private let budgets: WorkerBudgets
    private let layers: LayerCache?
    private let metrics: WorkerMetrics
    private var entries: [Digest: Entry] = [:]
    private var uses = 0
    /// The recent times at which remote archives were found replaced.
    private var replacements: [Digest: [(at: ContinuousClock.Instant, version: String)]] = [:]
    /// If a server's archive changes this many times within a minute, the server contradicts itself, and is not asked
    /// any more.
    private static let maxReplacements = 5

    init(
        environment: [String: String], budgets: WorkerBudgets = WorkerBudgets(), layers: LayerCache? = nil,
        metrics: WorkerMetrics = WorkerMetrics()
    ) {
        self.metrics = metrics
        self.environment = environment
        self.budgets = budgets
        self.layers = layers
    }

    /// The tileset of `canonicalJSON` and its origin.
    ///
    /// Its requests use the budget `name`; empty = no budget.
    ///
    /// A failed opening is not kept: the next batch tries again. A file that was replaced or written to is opened
    /// again.
    ///
    /// - Parameters:
    ///   - version: The version of the data that the job is made of; empty = any.
    ///   - ranges: A plan of the archive, if there is one.
    /// - Throws: ``WorkFailure``.
    func open(
        _ canonicalJSON: [UInt8], budget name: String, version wanted: String = "", ranges: PlannedRanges? = nil
    ) async throws -> Opened {
        let key = Digest(of: canonicalJSON + Array(name.utf8))
        uses += 1
        let tileset = try entries[key]?.tileset ?? Self.tileset(canonicalJSON)
        // In this order: a file that is replaced meanwhile has another version afterwards (``Opened/hasChanged()``).
        let version = try await tileset.sourceVersion()
        let stamp = OriginFactory.stamp(of: tileset)
        let entry: Entry
        if let found = entries[key], found.stamp == stamp {
            entry = found
        } else {
            // Not a child task of the first batch: other batches wait for it too, and the first one may be cancelled.
            let budget = name.isEmpty ? nil : budgets.budget(name)
            let opening = Task { [environment, layers, metrics] in
                let origin: any TileOrigin
                do {
                    origin = try await OriginFactory.open(
                        tileset, environment: environment, budget: budget, layers: layers, ranges: ranges,
                        onAnswer: { metrics.addRequest($0, $1) })
                } catch {
                    // An archive that cannot be read while it is being replaced is not damaged.
                    try Self.check(tileset, stamp)
                    throw error
                }
                try Self.check(tileset, stamp)
                return origin
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
            let origin = try await entry.opening.value
            guard let pinned = origin as? any PinnedOrigin else {
                return Opened(tileset: tileset, origin: origin, version: version)
            }
            if pinned.isStale {
                // Another batch may have opened it again meanwhile.
                if entries[key]?.opening == entry.opening {
                    try noteReplacement(of: key, was: pinned.version, tileset)
                    entries[key] = nil
                }
                return try await open(canonicalJSON, budget: name, version: wanted)
            }
            return Opened(tileset: tileset, origin: origin, version: pinned.version)
        } catch {
            if entries[key]?.opening == entry.opening { entries[key] = nil }
            guard let error = error as? OriginsError else { throw error }
            if let found = error.cause as? UnreadableVersion, !wanted.isEmpty, found.version != wanted {
                throw WorkFailure.changed(to: found.version)
            }
            if let gone = WorkFailure(removedFrom: tileset, error) { throw gone }
            throw WorkFailure(error)
        }
    }

    private func noteReplacement(of key: Digest, was version: String, _ tileset: Tileset) throws {
        let recent = replacements[key, default: []].filter { .now - $0.at < .seconds(60) } + [(.now, version)]
        replacements[key] = recent
        guard recent.count > Self.maxReplacements else { return }
        // The document of builds names two of them in turns: the job can begin again with one of them.
        guard tileset.build?.document == nil else { throw WorkFailure.changed(to: version) }
        throw WorkFailure.contradicting(recent.map(\.version))
    }

    private static func tileset(_ canonicalJSON: [UInt8]) throws -> Tileset {
        do {
            return try Tileset(canonicalJSON: canonicalJSON)
        } catch {
            throw WorkFailure(cause: .badTileset, detail: "\(error)", retriable: false)
        }
    }

    private static func check(_ tileset: Tileset, _ stamp: ArchiveStamp?) throws {
        guard OriginFactory.stamp(of: tileset) == stamp else { throw WorkFailure.changing(tileset) }
    }
}

extension OriginCache.Opened {
    /// Whether the source has changed since the batch began, so that the data read since then may be of both versions.
    ///
    /// - Throws: ``WorkFailure`` when the archive cannot be read any more.
    func hasChanged() async throws -> Bool {
        guard let pinned = origin as? any PinnedOrigin else { return try await tileset.sourceVersion() != version }
        do { return try await pinned.hasChanged(since: begun) } catch let error as OriginsError {
            throw WorkFailure(removedFrom: tileset, error) ?? WorkFailure(error)
        }
    }
}

extension Tileset {
    /// The current version of the source's data, read on a thread that may block.
    fileprivate func sourceVersion() async throws -> String? {
        guard source.path != nil else { return nil }
        do {
            return try await Blocking.run("packhorse.version") { try OriginFactory.version(of: self) }
        } catch let error as OriginsError {
            throw WorkFailure(error)
        }
    }
}

extension WorkFailure {
    /// Another worker may have the file or the secret that this one lacks, so an error is retriable, unless the archive is
    /// damaged or its server refuses.
    init(_ error: OriginsError) {
        let retriable =
            switch error.code {
            case .badArchive, .unsupported, .refused, .allRefused: false
            case .tileset, .unreadable, .busy, .unreachable: true
            }
        self.init(cause: FailureCause(error.code), detail: error.message, retriable: retriable)
    }

    /// The build of a job that its server has removed; `nil` for any other error, and for sources whose address stays.
    init?(removedFrom tileset: Tileset, _ error: OriginsError) {
        guard let build = tileset.build, error.saysGone(for: tileset) else { return nil }
        self = .changed(to: "no build \(build.name) any more: \(error.message)")
    }

    /// The source's data have this version instead of the job's.
    static func changed(to version: String) -> WorkFailure {
        WorkFailure(cause: .sourceChanged, detail: version, retriable: false)
    }

    /// A server whose answers are of several versions in turns.
    ///
    /// - Parameter versions: As seen, in order.
    static func contradicting(_ versions: [String]) -> WorkFailure {
        let seen = versions.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let shown = seen.prefix(2).map { $0.utf8.count <= 48 ? $0 : "\($0.prefix(46))…" }.joined(separator: "; ")
        return WorkFailure(
            cause: .originUnsupported,
            detail:
                "the server names \(seen.count) versions of the archive in turns (\(shown)); use one whose ETag stays the same for the same file",
            retriable: false)
    }

    /// The archive of a tileset is being replaced or written to.
    ///
    /// It can be read when that has ended.
    static func changing(_ tileset: Tileset) -> WorkFailure {
        WorkFailure(
            cause: .originBusy, detail: "The archive of tileset '\(tileset.id)' changed while it was read.",
            retriable: true)
    }
}
