internal import Tiles

/// Meridians and parallels of a tile at round degrees: two to five of each, closer with every zoom.
enum Graticule {
    private static let fullTurn = 360_000_000

    /// Adds the lines of a tile to the layer, with labels in the usual form of coordinates.
    static func draw(_ tile: TileID, into layer: inout LayerWriter) {
        let step = step(zoom: tile.zoom)
        let extent = PixelGrid.extent
        let plane = extent << tile.zoom
        // Micro-degrees times the plane stays below 2^63: 360,000,000 x 2^34.
        let west = (fullTurn * tile.x) >> tile.zoom
        let east = (fullTurn * (tile.x + 1)) >> tile.zoom
        for position in multiples(of: step, from: west - fullTurn / 2, to: east - fullTurn / 2) {
            let x = (position + fullTurn / 2) * plane / fullTurn - tile.x * extent
            layer.line(
                id: 2 * (position + fullTurn), fields("meridian", at: position, plus: "E", minus: "W"),
                from: Pixel(x: x, y: -64),
                to: Pixel(x: x, y: extent + 64))
        }
        let grid = PixelGrid(tile)
        let bounds = tile.bounds
        let south = Int((bounds.south * 1e6).rounded())
        let north = Int((bounds.north * 1e6).rounded())
        for position in multiples(of: step, from: south, to: north) {
            let place = MercatorPoint(longitude: 0, latitude: Double(position) / 1e6)
            let y = min(extent + 64, max(-64, grid.pixel(place).y))
            layer.line(
                id: 2 * (position + fullTurn) + 1, fields("parallel", at: position, plus: "N", minus: "S"),
                from: Pixel(x: -64, y: y),
                to: Pixel(x: extent + 64, y: y))
        }
    }

    private static func fields(
        _ kind: String, at position: Int, plus: String, minus: String
    ) -> [(String, FieldValue)] {
        let side = position == 0 ? "" : position > 0 ? " \(plus)" : " \(minus)"
        return [
            ("kind", .text(kind)), ("degrees", .number(Double(position) / 1e6)),
            ("label", .text(degrees(abs(position)) + "°" + side)),
        ]
    }

    /// The widest step of the series 1, 2, 5 that fits twice into a tile.
    ///
    /// Unit: micro-degrees.
    private static func step(zoom: Int) -> Int {
        var best = 10
        var decade = 10
        while decade <= 10_000_000 {
            for candidate in [decade, 2 * decade, 5 * decade]
            where candidate <= 30_000_000 && (candidate * 2) << zoom <= fullTurn {
                best = candidate
            }
            decade *= 10
        }
        return best
    }

    private static func multiples(of step: Int, from low: Int, to high: Int) -> StrideThrough<Int> {
        let first = low >= 0 ? (low + step - 1) / step * step : -(-low / step * step)
        return stride(from: first, through: high, by: step)
    }

    private static func degrees(_ micro: Int) -> String {
        guard micro % 1_000_000 != 0 else { return "\(micro / 1_000_000)" }
        var digits = "\(1_000_000 + micro % 1_000_000)".dropFirst()
        while digits.last == "0" { digits.removeLast() }
        return "\(micro / 1_000_000).\(digits)"
    }
}
