import ClusterClient
import Tilesets

extension JobDraft {
    /// A job of these areas, zooms 0 to 9, of a tile server that is never asked.
    static func test(_ areas: [Area]) throws -> JobDraft {
        let tileset = try Tileset(
            canonicalJSON: Array(
                """
                {"version":1,"id":"demo","templates":["https://a.example/{z}/{x}/{y}"],"scheme":"xyz","format":"pbf","minzoom":0,
                "maxzoom":9,"headers":{},"concurrency":1,"contact":"maps@example.com","connectSeconds":1,"totalSeconds":1,
                "stallSeconds":1,"http2":false,"maxTileBytes":1000}
                """.utf8))
        return try JobDraft(areas: areas, zooms: tileset.zooms, tileset: tileset)
    }
}
