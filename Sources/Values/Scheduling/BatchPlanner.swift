public import Tiles

/// One batch as planned: the tiles of the job's mask at `zooms` that are `cell` or lie below it.
public struct PlannedBatch: Hashable, Sendable {
    /// The index tile.
    public let cell: TileID
    /// The zoom span, inside one ``BatchBand``.
    public let zooms: ZoomRange
    /// Number of tiles, at least 1.
    public let tiles: UInt64
    /// What is done with it.
    public let role: BatchRole

    /// A batch of `tiles` tiles.
    public init(cell: TileID, zooms: ZoomRange, tiles: UInt64, role: BatchRole = .cell) {
        self.cell = cell
        self.zooms = zooms
        self.tiles = tiles
        self.role = role
    }
}

/// How a job's tiles are requested.
///
/// This decides how they are divided into batches.
public enum BatchCut: Sendable, Hashable {
    /// Each tile in its own request: from servers, and from files.
    case tiles
    /// In ranges that contain many tiles: from archives on a web server. Each batch costs at least one request, so
    /// batches are few and large.
    case ranges
    /// In ranges that a worker plans first, for all tiles of a batch together: from one archive on a web server.
    ///
    /// A plan costs a lease, so a job of few tiles is cut as ``ranges`` says.
    case planned

    fileprivate var bands: [BatchBand] {
        switch self {
        case .tiles: BatchBand.all
        case .ranges: BatchBand.ofRanges
        case .planned: BatchBand.ofPlans
        }
    }
    fileprivate var wanted: UInt64 {
        switch self {
        case .tiles: BatchPlanner.wantedBatches
        case .ranges: 16
        case .planned: 1
        }
    }
    fileprivate var largest: UInt64 {
        switch self {
        case .tiles: BatchPlanner.largestBatch
        // A full cell of 4^7 tiles: some 10 MB of vector tiles.
        case .ranges: 16_384
        case .planned: BatchPlanner.largestPlan
        }
    }
}

/// Divides the union mask of a job into batches along bands of zooms.
///
/// A batch costs one row whatever its size; no work is done per tile. The division depends only on mask and zooms, and
/// the content of a package does not depend on it.
public struct BatchPlanner: Sendable {
    /// Largest number of tiles in a full cell: a z8 cell of band 11–14 has 5,440, a z4 cell of band 6–10 has 5,456, a
    /// z16 cell of band 17–22 has 5,460.
    public static let largestBatch: UInt64 = 5_500
    /// A smaller batch costs more in messages and files than it gains through parallel work.
    public static let smallestTarget: UInt64 = 64
    /// The smallest number of batches that a job should have, so that several workers have work until its end.
    ///
    /// A cell that is one zoom deeper has a quarter of the tiles, so a job has between this number and four times as
    /// many. Each batch costs a file, two flushes and a transaction, some 3 ms.
    public static let wantedBatches: UInt64 = 48

    /// The union of the masks of the job's packages.
    public let mask: TileMask
    /// The zooms to build.
    public let zooms: ZoomRange
    /// Tiles of the job.
    public let tiles: UInt64
    /// Largest number of tiles in a full cell of this job, except where the deepest cell of the band is reached first.
    public let target: UInt64
    private let cut: BatchCut

    /// Plans `mask` at `zooms`.
    ///
    /// The caller has to expand zooms below the mask's depth with ``TileMask/expanded(toZoom:)``.
    public init(mask: TileMask, zooms: ZoomRange, cut: BatchCut = .tiles) {
        self.mask = mask
        self.zooms = zooms
        tiles = mask.count(in: zooms)
        let cut = cut == .planned && tiles < Self.smallestPlan ? .ranges : cut
        self.cut = cut
        target = min(max(tiles / cut.wanted, Self.smallestTarget), cut.largest)
    }

    /// The batches by ascending band, then by ascending Hilbert id of the cell.
    ///
    /// Produced one at a time.
    public func batches() -> some Sequence<PlannedBatch> {
        cut == .planned ? AnySequence(batchesToPlan) : AnySequence(cells)
    }

    private var cells: some Sequence<PlannedBatch> {
        cut.bands.lazy.compactMap { band in band.zooms.intersection(zooms).map { (band, $0) } }.flatMap {
            band, span in
            mask.tiles(atZoom: band.cellZoom(span: span, target: target), under: .root).lazy.compactMap {
                cell -> PlannedBatch? in
                let count = mask.restricted(to: cell).count(in: span)
                return count == 0 ? nil : PlannedBatch(cell: cell, zooms: span, tiles: count)
            }
        }
    }
}
