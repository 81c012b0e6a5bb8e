public import Tiles

/// One batch as planned: the tiles of the job's mask at `zooms` that are `cell` or lie below it.
public struct PlannedBatch: Hashable, Sendable {
    /// The index tile.
    public let cell: TileID
    /// The zoom span, inside one ``BatchBand``.
    public let zooms: ZoomRange
    /// Number of tiles, at least 1.
    public let tiles: UInt64

    /// A batch of `tiles` tiles.
    public init(cell: TileID, zooms: ZoomRange, tiles: UInt64) {
        self.cell = cell
        self.zooms = zooms
        self.tiles = tiles
    }
}

/// How a job's tiles are asked for, which decides how they are cut into batches.
public enum BatchCut: Sendable, Hashable {
    /// Each by itself: from servers, and from files.
    case tiles
    /// In ranges that hold many: from archives on a web server. Each batch costs a request or more, so they are few and long.
    case ranges

    fileprivate var bands: [BatchBand] { self == .tiles ? BatchBand.all : BatchBand.ofRanges }
    fileprivate var wanted: UInt64 { self == .tiles ? BatchPlanner.wantedBatches : 16 }
    /// A full cell of four to the seventh tiles is the largest of ranges: some 10 MB of vector tiles.
    fileprivate var largest: UInt64 { self == .tiles ? BatchPlanner.largestBatch : 16_384 }
}

/// Cuts the union mask of a job into batches along bands of zooms.
///
/// A batch costs one row whatever its size; nothing here is made per tile. The cut is a function of mask and zooms alone, and nothing that
/// reaches a package depends on it.
public struct BatchPlanner: Sendable {
    /// Most tiles a full cell may hold: a z8 cell of band 11–14 holds 5,440, a z4 cell of band 6–10 5,456, a z16 cell of band 17–22 5,460.
    public static let largestBatch: UInt64 = 5_500
    /// Below this many tiles a batch costs more in messages and files than it gains in parallel work.
    public static let smallestTarget: UInt64 = 64
    /// A job aims at this many batches at least, so that several workers have work to the end.
    ///
    /// Cells hold four times fewer tiles a zoom further down, so a job has between this many and four times as many; each costs a file,
    /// two flushes and a transaction, some 3 ms.
    public static let wantedBatches: UInt64 = 48

    /// The union of the masks of the job's packages.
    public let mask: TileMask
    /// The zooms to build.
    public let zooms: ZoomRange
    /// Tiles of the job.
    public let tiles: UInt64
    /// Most tiles a full cell holds in this job, except where the band's deepest cell is reached first.
    public let target: UInt64
    private let cut: BatchCut

    /// Plans `mask` at `zooms`; zooms below the mask's depth count through ``TileMask/expanded(toZoom:)``, which is the caller's.
    public init(mask: TileMask, zooms: ZoomRange, cut: BatchCut = .tiles) {
        self.cut = cut
        self.mask = mask
        self.zooms = zooms
        tiles = mask.count(in: zooms)
        target = min(max(tiles / cut.wanted, Self.smallestTarget), cut.largest)
    }

    /// The batches by ascending band, then ascending Hilbert id of the cell; made one at a time.
    public func batches() -> some Sequence<PlannedBatch> {
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
