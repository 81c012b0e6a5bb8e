@testable import Tiles

extension TileMask {
    /// How many bytes of memory the quadtree takes.
    var storageBytes: Int { groups.count * 4 + 16 }

    /// The tiles of one zoom.
    func occupiedTiles(atZoom zoom: Int) -> TileSequence { tiles(atZoom: zoom, under: .root) }

    /// The text that a CARTO client puts into a bbox request.
    ///
    /// Clipped at zoom 12, or the deepest zoom above it whose text has at most 128 characters. It may stand for more
    /// tiles than the mask has.
    var cartoRequestText: String {
        var text = ""
        for zoom in stride(from: min(12, maxZoom), through: 0, by: -1) {
            text = Self.urlSafe(cartoText(clipZoom: zoom))
            if text.utf8.count <= 128 { break }
        }
        return text
    }
}
