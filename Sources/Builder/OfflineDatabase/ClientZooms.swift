/// Converts between the zoom of the map and the zoom of the tiles that a client fetches for it.
///
/// - Source: MapLibre Native's offline code, schema version 6: Z + log2(512 / tile size); rounded for raster, floored
///   otherwise.
struct ClientZooms {
    private let isRaster: Bool
    private let shift: Double

    init(type: String, tileSize: Int) {
        isRaster = type == "raster"
        shift = tileSize > 0 ? Self.log2(512 / Double(tileSize)) : 0
    }

    /// The tiles' zoom for a map's zoom.
    func tileZoom(_ mapZoom: Double) -> Int {
        let zoom = mapZoom + shift
        guard zoom.isFinite else { return zoom > 0 ? 255 : 0 }
        return Int(max(0, min(255, isRaster ? zoom.rounded() : zoom.rounded(.down))))
    }

    /// The smallest map zoom at which tiles of a zoom are fetched, at least 0.
    ///
    /// For sizes that are powers of two it is a whole number and the only one.
    func mapZoom(_ tileZoom: Int) -> Double {
        for candidate in stride(from: Double(tileZoom) - 8, through: Double(tileZoom) + 8, by: 1)
        where candidate >= 0 && self.tileZoom(candidate) == tileZoom {
            return candidate
        }
        return max(0, Double(tileZoom) - shift)
    }

    /// Exact for powers of two with every mathematics library.
    private static func log2(_ value: Double) -> Double {
        guard value > 0, value.isFinite else { return 0 }
        let whole = Double(value.exponent)
        return value.significand == 1 ? whole : whole + (value.significand - 1)
    }
}
