public import Errors
public import TileBodies
public import Tiles

/// A tile that an origin has answered for.
public struct FetchedTile: Sendable {
    /// What became of it.
    public enum Outcome: Sendable, Hashable {
        /// A whole body in its canonical form, and the validators that came with it.
        case stored(body: [UInt8], etag: String?, lastModified: String?)
        /// The origin answered that the tile has not changed since the given validators.
        case unchanged
        /// The tile does not exist at the origin: 204, 404, 410, a status of `empty_statuses`, no row, or an empty body.
        case empty
        /// The tile could not be fetched, after all retries; `detail` is for people.
        case failed(cause: CauseCode, detail: String)
    }

    /// Which tile.
    public let tile: TileID
    /// What became of it.
    public let outcome: Outcome
    /// Body bytes received for it over all attempts.
    public let received: Int
    /// Bytes of an unchanged tile that the origin did not have to send; `nil` = those of the body that is kept.
    public let notSent: Int?
    /// The layers of a stored vector tile, by the numbers of the memory that the origin was opened with.
    public let layers: [LayerCache.Number]?

    /// A tile of an archive whose body is no tile: reading it again cannot mend it, so packages are made without it.
    ///
    /// - Parameter why: In words, without the tile.
    static func leftOut(_ tile: TileID, _ why: String) -> FetchedTile {
        FetchedTile(tile: tile, outcome: .failed(cause: CauseCode(.leftOut), detail: why), received: 0)
    }

    /// The outcome for a body of an archive that is refused; an empty one is an empty tile.
    static func outcome(_ error: TileBodiesError) -> Outcome {
        error.code == .emptyBody
            ? .empty : .failed(cause: CauseCode(.leftOut), detail: "\(error.message) [\(error.code)]")
    }

    /// Makes an answer.
    public init(
        tile: TileID, outcome: Outcome, received: Int, notSent: Int? = nil, layers: [LayerCache.Number]? = nil
    ) {
        self.tile = tile
        self.outcome = outcome
        self.received = received
        self.notSent = notSent
        self.layers = layers
    }
}

/// A place where tiles come from.
public protocol TileOrigin: Sendable {
    /// Takes tiles from the sequence and passes the results to `deliver` in groups, in no particular order.
    ///
    /// Every tile of the sequence is delivered exactly once. The next group is passed when the last call has returned;
    /// meanwhile a bounded number of transfers continues. An error of `deliver` ends the fetch and is rethrown.
    /// - Parameters:
    ///   - known: Validators of tiles from an earlier fetch: such tiles may be delivered as `unchanged`. An origin
    ///     without validators ignores them.
    ///   - failedBefore: Whether these tiles failed in an earlier attempt that got all others: another failure of them
    ///     does not mean that the origin is down.
    /// - Throws: `CancellationError` when the task is cancelled: a return always means that every tile was delivered.
    ///   ``OriginsError`` `.busy` or `.unreadable` if an archive cannot be read now, `.refused` if its server gives it no more,
    ///   `.allRefused` if a tile server has refused every request so far.
    func fetch(
        _ tiles: any Sequence<TileID> & Sendable, known: [TileID: TileValidators], failedBefore: Bool,
        deliver: @Sendable ([FetchedTile]) async throws -> Void
    ) async throws

    /// Says that the source has given tiles before, here or elsewhere: refusals are then of single tiles.
    func trust()
}

extension TileOrigin {
    /// Nothing: only a tile server is judged by its first answers.
    public func trust() {}

    /// Pulls tiles for the first time.
    public func fetch(
        _ tiles: any Sequence<TileID> & Sendable, known: [TileID: TileValidators] = [:],
        deliver: @Sendable ([FetchedTile]) async throws -> Void
    ) async throws {
        try await fetch(tiles, known: known, failedBefore: false, deliver: deliver)
    }
}
