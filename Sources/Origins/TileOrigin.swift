public import TileBodies
public import Tiles

/// A tile that an origin has answered for.
public struct FetchedTile: Sendable {
    /// What became of it.
    public enum Outcome: Sendable, Hashable {
        /// A whole body in its canonical form, and the validators that came with it.
        case stored(body: [UInt8], etag: String?, lastModified: String?)
        /// The origin says that the tile is still the one whose validators it was asked with.
        case unchanged
        /// The origin says that there is nothing: 204, 404, 410, no row, or a body without bytes.
        case empty
        /// Not to be had, after all retries. `cause` is a bounded kebab-case word; `detail` is for people.
        case failed(cause: String, detail: String)
    }

    /// Which tile.
    public let tile: TileID
    /// What became of it.
    public let outcome: Outcome
    /// Body bytes received for it over all attempts.
    public let received: Int
    /// The layers of a stored vector tile, by the numbers of the memory that the origin was opened with.
    public let layers: [LayerMemory.Number]?

    /// Makes an answer.
    public init(tile: TileID, outcome: Outcome, received: Int, layers: [LayerMemory.Number]? = nil) {
        self.tile = tile
        self.outcome = outcome
        self.received = received
        self.layers = layers
    }
}

/// A place where tiles come from.
public protocol TileOrigin: Sendable {
    /// Pulls tiles from the sequence and hands settled ones to `deliver` in groups, in no particular order.
    ///
    /// Every tile of the sequence is delivered exactly once. The next group is handed over when the last call returned;
    /// meanwhile a bounded number of transfers goes on. What `deliver` throws ends the fetch and is thrown on.
    /// - Parameters:
    ///   - known: What is known of tiles from an earlier fetch: they may be delivered as `unchanged`. An origin that cannot tell delivers
    ///     them as if nothing were known.
    ///   - failedBefore: Whether these tiles were given up in an earlier attempt that had all others: that they fail again is no sign of
    ///     an origin that is down.
    /// - Throws: `CancellationError` when the task is cancelled: a return always means that every tile was delivered. ``OriginsError`` `.busy`
    ///   or `.unreadable` when an archive cannot be read at this moment.
    func fetch(
        _ tiles: any Sequence<TileID> & Sendable, known: [TileID: TileValidators], failedBefore: Bool,
        deliver: @Sendable ([FetchedTile]) async throws -> Void
    ) async throws
}

extension TileOrigin {
    /// Pulls tiles for the first time.
    public func fetch(
        _ tiles: any Sequence<TileID> & Sendable, known: [TileID: TileValidators] = [:],
        deliver: @Sendable ([FetchedTile]) async throws -> Void
    ) async throws {
        try await fetch(tiles, known: known, failedBefore: false, deliver: deliver)
    }
}
