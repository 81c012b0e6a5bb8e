internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import Regions
internal import TextFormats
internal import TileBodies
internal import Tiles
internal import WebRequests
internal import WebServer
internal import WorldTiles

/// Answers with the embedded base map: tiles, TileJSON, a style, its glyphs and its sprite.
enum WorldResponder {
    /// A document: `style.json`, `tiles.json`, `sprite.json`, `sprite@2x.png`.
    static func document(_ routed: RoutedRequest) throws(Problem) -> Response {
        let language = try language(routed)
        let name = routed.parameters["document"] ?? "tiles.json"
        let root = "\(routed.base)/world"
        let bytes: [UInt8]?
        do {
            switch name {
            case "style.json": bytes = try WorldDocuments.style(base: root, language: language)
            case "tiles.json":
                bytes = try WorldDocuments.tileJSON(base: root, language: language, maxZoom: WorldMap.maxZoom)
            case "sprite.json": bytes = try WorldSprite.json(density: 1)
            case "sprite@2x.json": bytes = try WorldSprite.json(density: 2)
            case "sprite.png": bytes = WorldSprite.png(density: 1)
            case "sprite@2x.png": bytes = WorldSprite.png(density: 2)
            default: bytes = nil
            }
        } catch { throw Problem(.internalError, "The document '\(name)' cannot be made: \(error)") }
        guard let bytes else { throw Problem(.notFound, "The base map has no '\(name.prefix(60))'.") }
        return try answer(bytes, StyleResponder.mediaType(name), routed)
    }

    /// A range of glyphs: `0-255.pbf`.
    static func glyphs(_ routed: RoutedRequest) throws(Problem) -> Response {
        let file = routed["file"]
        let ends = file.hasSuffix(".pbf") ? file.dropLast(4).split(separator: "-").compactMap { Int($0) } : []
        guard ends.count == 2, ends[0] >= 0, ends[0] <= 65_280, ends[0].isMultiple(of: 256), ends[1] == ends[0] + 255
        else { throw Problem(.notFound, "Glyphs are 0-255.pbf to 65280-65535.pbf.") }
        return try answer(WorldGlyphs.range(ends[0]), "application/x-protobuf", routed)
    }

    /// A tile; 204 at sea.
    static func tile(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let (language, tile) = (try tileLanguage(routed), try tileID(routed))
        return answer(try await routed.services.world.tile(tile, language: language), routed).response
    }

    /// The same answer at once for a tile that is kept.
    static func tileNow(_ routed: RoutedRequest) throws(Problem) -> Route.QuickAnswer {
        let (language, id) = (try tileLanguage(routed), try tileID(routed))
        guard let kept = routed.services.world.kept(id, language: language) else { return .waits(tile) }
        return .ready(answer(kept.tile, routed))
    }

    private static func tileLanguage(_ routed: RoutedRequest) throws(Problem) -> String {
        try language(routed) ?? TileCutter.defaultLanguage
    }

    private static func answer(_ tile: WorldTile?, _ routed: RoutedRequest) -> WholeAnswer {
        guard let tile else { return WholeAnswer(status: .noContent, headers: nothing) }
        let request = routed.request
        let isPacked = AcceptEncoding.takes("gzip", request.headers[.acceptEncoding])
        let tag = EntityTag(isPacked ? "\(tile.hash)-gz" : tile.hash)
        var headers: HTTPFields = [
            .eTag: "\(tag)", .vary: "Accept-Encoding", .cacheControl: "public, max-age=86400",
        ]
        if Conditions(request.headers).outcome(Conditions.Validators(tag: tag)) == .notModified {
            return WholeAnswer(status: .notModified, headers: headers)
        }
        headers[.contentType] = TileFormat.mvt.mediaType
        if isPacked { headers[.contentEncoding] = "gzip" }
        return WholeAnswer(
            status: .ok, headers: headers, body: ByteBuffer(bytes: isPacked ? tile.gzip : tile.vector))
    }

    /// A tile with the names of towns; 204 where there is none.
    static func towns(_ routed: RoutedRequest) async throws(Problem) -> Response {
        guard let bytes = try await routed.services.world.towns(try tileID(routed)) else {
            return Response(status: .noContent, headers: nothing)
        }
        return try answer(bytes, TileFormat.mvt.mediaType, routed)
    }

    /// The head where there is nothing.
    private static var nothing: HTTPFields { [.cacheControl: "public, max-age=86400"] }

    private static func tileID(_ routed: RoutedRequest) throws(Problem) -> TileID {
        guard let zoom = Int(routed["z"]), let x = Int(routed["x"]), let y = Int(routed["y"]),
            let tile = TileID(zoom: zoom, x: x, y: y)
        else { throw Problem(.noSuchTile, "The path does not end in ZOOM/COLUMN/ROW.pbf of a tile.") }
        return tile
    }

    /// The language of the path or of the query; `nil` when none is given.
    private static func language(_ routed: RoutedRequest) throws(Problem) -> String? {
        guard let language = routed.parameters["language"] ?? routed.path.parameter("language") else { return nil }
        guard RegionTree.languages.contains(language) else {
            throw Problem(.badParameter, "language is one of \(RegionTree.languages.joined(separator: ", ")).")
        }
        return language
    }

    private static func answer(_ bytes: [UInt8], _ type: String, _ routed: RoutedRequest) throws(Problem) -> Response {
        try DocumentResponder.respond(
            ServedDocument(bytes, mediaType: type), to: routed.request, cacheControl: "public, max-age=86400")
    }
}
