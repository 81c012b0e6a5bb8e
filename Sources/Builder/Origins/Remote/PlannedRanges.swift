import PMTiles
public import Tiles

/// Which ranges of an archive have the bodies of some tiles, planned for all of them together.
///
/// Each tile has a position. The parts that leases fetch are positions that follow one another, cut where no request is cut.
public struct PlannedRanges: Sendable {
    /// Tiles that follow one another in a plan.
    public struct Part: Hashable, Sendable {
        /// A tile above all of them, or one of them.
        public var cell: TileID
        /// Their zooms.
        public var zooms: ZoomRange
        /// Their number, at least 1.
        public var tiles: UInt64
    }

    /// The most bytes of a plan.
    public static let largest = RangePlan.largest

    let plan: RangePlan
    /// What became of the list of blocks beside the archive, in a line; empty when none was looked for, and for a plan that was read.
    public let note: String

    init(_ plan: RangePlan, note: String = "") { (self.plan, self.note) = (plan, note) }

    /// Reads the bytes of a plan; `nil` when they are none.
    public init?(_ bytes: [UInt8]) {
        guard let plan = RangePlan(bytes) else { return nil }
        (self.plan, note) = (plan, "")
    }

    /// The bytes: a function of the tiles, the archive and the list of blocks beside it.
    public var encoded: [UInt8] { plan.encoded }

    /// The number of tiles.
    public var tiles: UInt64 { plan.tiles }

    /// The tiles at some positions; `nil` when there are not that many.
    public func tiles(at positions: Range<UInt64>) -> [TileID]? {
        plan.runs(at: positions)?.flatMap { run in
            (0..<UInt64(run.count)).compactMap { TileID(hilbertID: run.tile + $0) }
        }
    }
}

/// An origin whose tiles lie in ranges that can be planned.
public protocol PlanningOrigin: PinnedOrigin {
    /// Plans the ranges of tiles; reads directories, and no tile.
    ///
    /// - Parameter progress: Called after each piece of work.
    /// - Throws: ``OriginsError``, `CancellationError`.
    func plan(
        _ tiles: any Sequence<TileID> & Sendable, progress: @Sendable () -> Void
    ) async throws -> PlannedRanges

    /// As ``TileOrigin/fetch(_:known:failedBefore:deliver:)``, for tiles of a plan: no directory is read.
    ///
    /// - Parameters:
    ///   - positions: Where all of the tiles are in the plan.
    ///   - tiles: Those of them to fetch.
    /// - Throws: Also ``RefutedBlocks`` when what came is not what the list of blocks says; the same call then goes on without the list.
    func fetch(
        _ tiles: Set<TileID>, of ranges: PlannedRanges, at positions: Range<UInt64>, known: [TileID: TileValidators],
        deliver: @Sendable ([FetchedTile]) async throws -> Void
    ) async throws
}
