internal import Digests
import Errors
internal import Files
import Synchronization
import Tiles
import Tilesets

/// Tiles out of several archives; each tile is in one of them, by its zoom and the tile above it.
///
/// An archive that does not exist has no tiles. Each archive has a version of its own while the origin is open; the version of the source is
/// made of all of them.
final class ArchivesOrigin: PinnedOrigin {
    /// An archive.
    struct Part: Sendable {
        let part: ArchivePart
        /// As if it were alone.
        let tileset: Tileset
        /// `nil` when there is no such archive.
        let origin: (any TileOrigin)?
        /// Of its data; equal on every machine for the same data.
        let version: String

        /// The text by which the versions of two machines are compared.
        fileprivate var line: String { "\(part.text) \(origin == nil ? "-" : version)" }
    }

    private let parts: [Part]
    private let lookup: ArchiveLookup
    private let reopen: @Sendable (ArchivePart) async throws(OriginsError) -> Part
    private let hasOther = Atomic<Bool>(false)
    /// When an archive was read last.
    private let uses = Mutex<[Int: ContinuousClock.Instant]>([:])
    let version: String

    /// - Parameters:
    ///   - parts: In the order of the tileset.
    ///   - reopen: Opens one of them again, to see whether it is there.
    init(_ parts: [Part], reopen: @escaping @Sendable (ArchivePart) async throws(OriginsError) -> Part) {
        self.parts = parts
        self.reopen = reopen
        lookup = ArchiveLookup(parts.map(\.part))
        let lines = parts.map(\.line).joined(separator: "\n")
        let missing = parts.count { $0.origin == nil }
        version =
            "\(parts.count) archives, \(missing) of them missing (\(Digest(of: Array(lines.utf8)).hex.prefix(32)))"
    }

    var isStale: Bool {
        hasOther.load(ordering: .relaxed) || parts.contains { ($0.origin as? any PinnedOrigin)?.isStale == true }
    }

    func trust() { for part in parts { part.origin?.trust() } }

    /// Asks for those archives that were read since `begin`; when none was, for all.
    func hasChanged(since begin: ContinuousClock.Instant) async throws -> Bool {
        if isStale { return true }
        let read = uses.withLock { uses in uses.filter { $0.value >= begin }.keys.sorted() }
        for index in read.isEmpty ? Array(parts.indices) : read {
            guard try await hasChanged(parts[index], since: begin) else { continue }
            hasOther.store(true, ordering: .relaxed)
            return true
        }
        return false
    }

    private func hasChanged(_ part: Part, since begin: ContinuousClock.Instant) async throws -> Bool {
        if let pinned = part.origin as? any PinnedOrigin { return try await pinned.hasChanged(since: begin) }
        return try await reopen(part.part).line != part.line
    }

    /// Only its own: the versions of single archives are no versions of the source.
    func versions(ofAnswers count: Int) async throws -> [String] { [version] }

    func fetch(
        _ tiles: any Sequence<TileID> & Sendable, known: [TileID: TileValidators], failedBefore: Bool,
        deliver: @Sendable ([FetchedTile]) async throws -> Void
    ) async throws {
        var groups: [Int: [TileID]] = [:]
        var empty: [FetchedTile] = []
        for tile in tiles {
            if let index = lookup.part(of: tile), parts[index].origin != nil {
                groups[index, default: []].append(tile)
            } else {
                empty.append(FetchedTile(tile: tile, outcome: .empty, received: 0))
            }
        }
        if !empty.isEmpty { try await deliver(empty) }
        for (index, tiles) in groups.sorted(by: { $0.key < $1.key }) {
            uses.withLock { $0[index] = .now }
            try await parts[index].origin?.fetch(tiles, known: known, failedBefore: failedBefore, deliver: deliver)
        }
    }
}
