import Foundation
import Tiles

/// A style and its tiles on a tile server: zooms 0 to 8, one vector source, a sprite.
enum LiveStyle {
    /// The body of an address; `nil` when there is none.
    static func body(_ path: String, data: Int, host: String) -> [UInt8]? {
        let base = "http://\(host)/live"
        switch path {
        case "style.json":
            return Array(
                """
                {"version":8,"name":"Live","sprite":"\(base)/sprite","sources":{"live":{"type":"vector",\
                "url":"\(base)/tiles.json"}},"layers":[{"id":"land","type":"fill","source":"live","source-layer":"land"}]}
                """.utf8)
        case "text.json":
            return Array(
                """
                {"version":8,"glyphs":"\(base)/fonts/{fontstack}/{range}.pbf","sources":{"live":{"type":"vector",\
                "url":"\(base)/tiles.json"}},"layers":[{"id":"names","type":"symbol","source":"live",\
                "source-layer":"land","layout":{"text-field":"{name}","text-font":["Open Sans"]}}]}
                """.utf8)
        case "tiles.json":
            // From data 5 on there is another tile address.
            let tiles = data < 5 ? base : base + "/alt"
            return Array(
                #"{"tilejson":"3.0.0","minzoom":0,"maxzoom":8,"tiles":["\#(tiles)/{z}/{x}/{y}.pbf"]}"#.utf8)
        case "sprite.json", "sprite@2x.json": return Array("{}".utf8)
        case "sprite.png", "sprite@2x.png": return png
        default:
            if path.hasPrefix("fonts/") { return glyphs }
            let parts = path.replacing("@2x", with: "").replacing("alt/", with: "").split(separator: ".")[0].split(
                separator: "/"
            ).compactMap { Int($0) }
            guard parts.count == 3, path.hasSuffix(".pbf"), parts[0] <= 8,
                let tile = TileID(zoom: parts[0], x: parts[1], y: parts[2])
            else { return nil }
            return TinyMap.body("live \(data)", tile)
        }
    }

    /// A font stack without a glyph: its name and its range (mapbox/node-fontnik `proto/glyphs.proto`).
    private static let glyphs: [UInt8] = [0x0A, 13, 0x0A, 4] + Array("Sans".utf8) + [0x12, 5] + Array("0-255".utf8)

    /// One transparent pixel.
    private static let png: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1,
        8, 6, 0, 0, 0, 0x1F, 0x15, 0xC4, 0x89, 0, 0, 0, 0x0A, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0, 1, 0, 0, 5,
        0, 1, 0x0D, 0x0A, 0x2D, 0xB4, 0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
    ]
}
