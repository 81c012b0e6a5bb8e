public import Tiles

/// A band of zooms whose tiles travel together, and the zoom of the tile that indexes one pack of the band.
///
/// The bands are those of Mapbox's tile packs (`/work/shared/seeds/mapbox-gl-offline-storage.txt`): a pack of band 11–14 is one z11 tile with
/// everything below it down to z14. A batch's cell lies at the index zoom or above it, so a batch always holds whole packs.
public struct TilePack: Hashable, Sendable {
    /// The zooms of the band.
    public let zooms: ZoomRange
    /// The zoom of the pack's index tile.
    ///
    /// 0...22, not above `zooms.min`.
    public let indexZoom: Int

    /// Every band, coarse to fine; together they hold each zoom of 0...22 once.
    public static let bands = PackScheme.mapbox.bands.map { TilePack(zooms: $0.zooms, indexZoom: $0.indexZoom) }

    /// Tiles of `zooms` in and below one full cell at `cellZoom`, saturating.
    static func fullCount(cellZoom: Int, zooms: ZoomRange) -> UInt64 {
        (zooms.min...zooms.max).reduce(0) { sum, zoom in
            zoom < cellZoom ? sum : sum &+ (1 << UInt64(2 * (zoom - cellZoom)))
        }
    }

    /// The coarsest zoom whose full cell holds at most `target` tiles of `span`; the index zoom when none does.
    func cellZoom(span: ZoomRange, target: UInt64) -> Int {
        (0...indexZoom).first { TilePack.fullCount(cellZoom: $0, zooms: span) <= target } ?? indexZoom
    }
}
