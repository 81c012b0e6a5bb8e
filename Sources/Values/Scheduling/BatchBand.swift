public import Tiles

/// A band of zooms whose tiles are fetched together, and the deepest zoom of a batch's cell in it.
///
/// The bands of tile packs (`PackScheme`) are independent of these bands, because packs are cut from the merged
/// package.
public struct BatchBand: Hashable, Sendable {
    /// The zooms of the band.
    public let zooms: ZoomRange
    /// The deepest zoom of a cell.
    ///
    /// 0...22, not above `zooms.min`.
    public let indexZoom: Int

    /// All bands, from coarse to fine.
    ///
    /// Together they contain each zoom of 0...22 once.
    public static let all = [(0, 5, 0), (6, 10, 6), (11, 14, 11), (15, 16, 12), (17, 22, 16)].compactMap {
        low, high, index in
        ZoomRange(min: low, max: high).map { BatchBand(zooms: $0, indexZoom: index) }
    }

    /// The bands for archives that are read in ranges.
    ///
    /// Bodies are ordered by zoom there, so each deep zoom is a separate band.
    static let ofRanges =
        [(0, 5, 0), (6, 10, 6), (11, 12, 11)].compactMap { low, high, index in
            ZoomRange(min: low, max: high).map { BatchBand(zooms: $0, indexZoom: index) }
        }
        + (13...22).compactMap { zoom in
            ZoomRange(min: zoom, max: zoom).map { BatchBand(zooms: $0, indexZoom: zoom) }
        }

    /// The bands for plans of ranges, which are large.
    static let ofPlans = [(0, 6, 0), (7, 10, 6), (11, 14, 11), (15, 18, 14), (19, 22, 18)].compactMap {
        low, high, index in
        ZoomRange(min: low, max: high).map { BatchBand(zooms: $0, indexZoom: index) }
    }

    /// Tiles of `zooms` in and below one full cell at `cellZoom`, saturating.
    static func fullCount(cellZoom: Int, zooms: ZoomRange) -> UInt64 {
        (zooms.min...zooms.max).reduce(0) { sum, zoom in
            zoom < cellZoom ? sum : sum &+ (1 << UInt64(2 * (zoom - cellZoom)))
        }
    }

    /// The coarsest zoom whose full cell holds at most `target` tiles of `span`; the index zoom when none does.
    func cellZoom(span: ZoomRange, target: UInt64) -> Int {
        (0...indexZoom).first { BatchBand.fullCount(cellZoom: $0, zooms: span) <= target } ?? indexZoom
    }
}
