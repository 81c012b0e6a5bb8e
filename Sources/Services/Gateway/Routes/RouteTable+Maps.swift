internal import TileBodies
internal import Tiles

/// Routes of maps, and those of CARTO's client.
extension RouteTable {
    private static let noTile = [204: "The origin has no such tile"]

    static let maps = [
        Route(
            .get, "/tiles/{name}.json", name: "tile-json", group: .style, access: .published,
            summary: "TileJSON of a package or of a tileset", query: ["edition"], answer: .json(nil),
            handler: TileJSONResponder.tileJSON),
        Route(
            .get, "/tiles/{name}/{z}/{x}/{y}", name: "tile", group: .tile, access: .published, rate: .tiles,
            summary: "A tile of a package or of a tileset", query: ["edition", "format"],
            answer: .media(TileFormat.allCases.map(\.mediaType), also: noTile), now: TileResponder.tileNow,
            handler: TileResponder.tile),
        Route(
            .get, "/style/{id}/{path+}", name: "style", group: .style, access: .published, rate: .tiles,
            summary: "A style, and what it needs", query: ["edition"], answer: .media(StyleResponder.mediaTypes),
            handler: StyleResponder.style),
        Route(
            .get, "/world/fonts/{stack}/{file}", name: "world-glyphs", group: .style, access: .open, rate: .tiles,
            summary: "Glyphs of the embedded base map", answer: .media(["application/x-protobuf"]),
            handler: WorldResponder.glyphs),
        worldTile("/world/tiles/{z}/{x}/{y}.pbf", "A tile of the embedded base map", query: ["language"]),
        worldTile(
            "/world/{language}/tiles/{z}/{x}/{y}.pbf", "A tile of the embedded base map with names in a language"),
        worldDocument(
            "/world/{language}/tiles.json", "TileJSON of the embedded base map with names in a language"),
        Route(
            .get, "/world/towns/{z}/{x}/{y}.pbf", name: "world-towns", group: .tile, access: .open, rate: .tiles,
            summary: "A tile with the names of towns", answer: .media([TileFormat.mvt.mediaType], also: noTile),
            handler: WorldResponder.towns),
        worldTile("/world/{z}/{x}/{y}.pbf", "A tile of the embedded base map", query: ["language"]),
        worldDocument(
            "/world/{document}", "Style, TileJSON and sprite of the embedded base map", query: ["language"]),
    ]

    private static func worldTile(_ path: String, _ summary: String, query: [String] = []) -> Route {
        Route(
            .get, path, name: "world-tile", group: .tile, access: .open, rate: .tiles, summary: summary, query: query,
            answer: .media([TileFormat.mvt.mediaType], also: noTile), now: WorldResponder.tileNow,
            handler: WorldResponder.tile)
    }

    private static func worldDocument(_ path: String, _ summary: String, query: [String] = []) -> Route {
        Route(
            .get, path, name: "world-document", group: .style, access: .open, summary: summary, query: query,
            answer: .media(["application/json", "image/png"]), handler: WorldResponder.document)
    }

    static let carto =
        ["/carto/{tileset}/packages.json", "/mappackages/v2/{tileset}/2/packages.json"].map {
            Route(
                .get, $0, name: "carto-list", group: .list, access: .published, summary: "The list for CARTO's client",
                query: ["appToken"], answer: .json(nil), handler: CartoResponder.list)
        }
        + ["/carto/{tileset}/{mask}.mbtiles", "/maparea/v2/{tileset}/1/{mask}.mbtiles"].map {
            Route(
                .get, $0, name: "carto-area", group: .extract, access: .published,
                summary: "The package of a mask, built on request", query: ["appToken"],
                headers: ["Range", "If-Range"],
                answer: .media(["application/vnd.sqlite3"], also: [206: "A part of the file"]),
                handler: CartoResponder.area)
        }
}
