internal import Foundation
internal import Tiles

/// The JSON text that identifies a region for a client.
///
/// - Source: MapLibre Native's offline code, schema version 6: every number of zooms, ratio and bounds must be written
///   as a double.
struct RegionDefinition {
    /// The area in degrees.
    enum Area {
        /// South, west, north, east.
        case bounds(south: Double, west: Double, north: Double, east: Double)
        /// GeoJSON text of a geometry, and the geometry.
        case geometry(String, Geometry)
    }

    let styleURL: String
    let minZoom: Double
    /// Infinite when the text has none.
    let maxZoom: Double
    let pixelRatio: Double
    let includesIdeographs: Bool
    let area: Area

    /// The members in the client's own order.
    func text() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        let style = String(decoding: try encoder.encode(styleURL), as: UTF8.self)
        let place: String
        switch area {
        case .bounds(let south, let west, let north, let east):
            place = #""bounds":["# + [south, west, north, east].map(Self.double).joined(separator: ",") + "]"
        case .geometry(let json, _): place = #""geometry":"# + json
        }
        return #"{"style_url":\#(style),"min_zoom":\#(Self.double(minZoom)),"max_zoom":\#(Self.double(maxZoom)),"#
            + #""pixel_ratio":\#(Self.double(pixelRatio)),"include_ideographs":\#(includesIdeographs),\#(place)}"#
    }

    /// One to seven decimals (a centimetre), always with a decimal point.
    static func double(_ value: Double) -> String {
        let scaled = (value * 10_000_000).rounded()
        guard abs(scaled) < 9e15 else { return "0.0" }
        let whole = Int64(abs(scaled))
        var fraction = String(whole % 10_000_000)
        fraction = String(repeating: "0", count: 7 - fraction.count) + fraction
        while fraction.count > 1, fraction.last == "0" { fraction.removeLast() }
        return "\(scaled < 0 && whole > 0 ? "-" : "")\(whole / 10_000_000).\(fraction)"
    }

    /// The edges of tiles in degrees, moved inwards by a quarter of the smallest tile: every program then counts
    /// exactly these tiles and their parents, and no edge is on a tile's edge.
    static func box(
        _ rectangle: TileRectangles.Rectangle, zoom: Int, inset insetZoom: Int
    ) -> (south: Double, west: Double, north: Double, east: Double) {
        let side = 1 / Double(1 << zoom)
        let inset = 0.25 / Double(1 << insetZoom)
        func longitude(_ x: Double) -> Double { x * 360 - 180 }
        func latitude(_ y: Double) -> Double { atan(sinh(Double.pi * (1 - 2 * y))) * 180 / Double.pi }
        return (
            latitude(Double(rectangle.rows.upperBound + 1) * side - inset),
            longitude(Double(rectangle.columns.lowerBound) * side + inset),
            latitude(Double(rectangle.rows.lowerBound) * side + inset),
            longitude(Double(rectangle.columns.upperBound + 1) * side - inset)
        )
    }

    /// A MultiPolygon of rectangles, with counter-clockwise outer rings (RFC 7946).
    static func multiPolygon(_ rectangles: [TileRectangles.Rectangle], zoom: Int, inset: Int) -> String {
        let polygons = rectangles.map { rectangle in
            let box = box(rectangle, zoom: zoom, inset: inset)
            let corners = [
                (box.west, box.south), (box.east, box.south), (box.east, box.north), (box.west, box.north),
                (box.west, box.south),
            ]
            return "[[" + corners.map { "[\(double($0.0)),\(double($0.1))]" }.joined(separator: ",") + "]]"
        }
        return #"{"type":"MultiPolygon","coordinates":["# + polygons.joined(separator: ",") + "]}"
    }
}
