import Errors
import Synchronization
import Tiles
import Transfer

/// Tiles of one build of a tile server: a document is asked whether the server still has it.
///
/// A server may answer for a build that it has removed with tiles of a newer one, so the answers themselves prove nothing.
final class BuildOrigin: PinnedOrigin {
    let version: String
    private let origin: any TileOrigin
    private let question: BuildQuestion
    /// What follows the ETags of this build's tiles in shards.
    private let mark: String
    private let isReplaced = Atomic<Bool>(false)

    /// Asks which build the server has.
    ///
    /// - Throws: ``OriginsError`` when it does not answer.
    init(_ origin: any TileOrigin, _ question: BuildQuestion, place: String) async throws(OriginsError) {
        (self.origin, self.question, mark) = (origin, question, " \(place)")
        version = try await question.version()
    }

    var isStale: Bool { isReplaced.load(ordering: .relaxed) }

    func trust() { origin.trust() }

    func fetch(
        _ tiles: any Sequence<TileID> & Sendable, known: [TileID: TileValidators], failedBefore: Bool,
        deliver: @Sendable ([FetchedTile]) async throws -> Void
    ) async throws {
        let own = known.compactMapValues { validators -> TileValidators? in
            guard let etag = validators.etag, etag.hasSuffix(mark) else { return nil }
            return TileValidators(etag: String(etag.dropLast(mark.count)), lastModified: nil)
        }
        try await origin.fetch(tiles, known: own, failedBefore: failedBefore) { [mark] group in
            try await deliver(group.map { Self.marked($0, by: mark) })
        }
    }

    /// A tile whose ETag is used for this build alone: at the address of another one it says nothing (RFC 9110, 8.8.3).
    private static func marked(_ tile: FetchedTile, by mark: String) -> FetchedTile {
        guard case .stored(let body, let etag, _) = tile.outcome else { return tile }
        return FetchedTile(
            tile: tile.tile, outcome: .stored(body: body, etag: etag.map { $0 + mark }, lastModified: nil),
            received: tile.received, layers: tile.layers)
    }

    /// Asks each time: an earlier answer may be older than the tiles since then.
    func hasChanged(since begin: ContinuousClock.Instant) async throws -> Bool {
        if isStale { return true }
        guard try await question.version() != version else { return false }
        isReplaced.store(true, ordering: .relaxed)
        return true
    }

    func versions(ofAnswers count: Int) async throws -> [String] {
        var versions: [String] = []
        for _ in 0..<count { versions.append(try await question.version()) }
        return versions
    }
}
