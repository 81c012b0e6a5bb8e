import Errors
import Foundation
import TestSupport
import Testing
import TileBodies
import Tiles
import Tilesets

@testable import Origins

/// Services that draw maps: what they answer in place of a picture, and the documents that name their tiles.
@Suite(.timeLimit(.minutes(15)))
struct MapServiceTests {
    /// One pixel.
    private static let png: [UInt8] = [UInt8](
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
            ?? Data())

    /// As MapServer writes it for version 1.1.1, with a document type.
    private static let report = """
        <?xml version='1.0' encoding="UTF-8" standalone="no" ?>
        <!DOCTYPE ServiceExceptionReport SYSTEM "http://schemas.opengis.net/wms/1.1.1/exception_1_1_1.dtd">
        <ServiceExceptionReport version="1.1.1">
        <ServiceException code="LayerNotDefined">
        msWMSLoadGetMapParams(): WMS server error. Invalid layer(s) given in the LAYERS parameter.
        </ServiceException></ServiceExceptionReport>
        """

    private func fetchOne(
        _ answer: ScriptedServer.Answer, more: String = ""
    ) async throws -> (outcome: FetchedTile.Outcome, requests: Int) {
        let server = try ScriptedServer { _ in answer }
        defer { server.stop() }
        let file = try TilesetFile(
            text: "url: \(server.url)/{z}/{x}/{y}.png\n\(more)", name: "t", folder: URL(fileURLWithPath: "/"))
        let basket = try await fetch(try file.resolved(), [.root])
        return (try #require(basket["0/0/0"]).outcome, server.requests.count)
    }

    /// Status, media type, body, and what the failure must quote.
    @Test(arguments: [
        (200, "application/vnd.ogc.se_xml", report, "LayerNotDefined: msWMSLoadGetMapParams(): WMS server error."),
        (200, "image/png", report, "LayerNotDefined: msWMSLoadGetMapParams()"),
        (404, "text/xml", report, "LayerNotDefined"), (500, "text/xml", report, "LayerNotDefined"),
        (403, "text/xml", report, "LayerNotDefined"),
        (
            200, "text/xml",
            #"<ServiceExceptionReport version="1.3.0" xmlns="http://www.opengis.net/ogc"><ServiceException code="InvalidCRS" locator="crs"><![CDATA[Error: <b> 2056]]></ServiceException></ServiceExceptionReport>"#,
            "InvalidCRS: Error: <b> 2056"
        ),
        (
            400, "application/xml",
            #"<?xml version="1.0"?><!-- a > b --><ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows/1.1"><ows:Exception exceptionCode="InvalidParameterValue" locator="layer"><ows:ExceptionText>Unknown layer a&lt;b</ows:ExceptionText></ows:Exception></ows:ExceptionReport>"#,
            "InvalidParameterValue: Unknown layer a<b"
        ),
        (
            200, "application/json",
            #"{"version":"1.3.0","exceptions":[{"code":"LayerNotDefined","locator":"layers","text":"Could not find layer x"}]}"#,
            "LayerNotDefined: Could not find layer x"
        ),
        (
            200, "application/json", #"{"error":{"code":498,"message":"Invalid token.","details":[]}}"#,
            "498: Invalid token."
        ),
    ])
    func anExceptionIsAFailureThatQuotesIt(status: Int, type: String, body: String, quoted: String) async throws {
        let (outcome, _) = try await fetchOne(
            .reply(status, headers: [("Content-Type", type)], body: Array(body.utf8)))
        guard case .failed(let cause, let detail) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(detail.contains(quoted), "\(detail)")
        if status == 200 || status == 404 { #expect(cause == CauseCode(.serviceException)) }
    }

    @Test func aCompressedExceptionIsReadToo() async throws {
        let (outcome, _) = try await fetchOne(
            .reply(200, headers: [("Content-Encoding", "gzip")], body: Gzip.compress(Array(Self.report.utf8))))
        guard case .failed(_, let detail) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(detail.contains("LayerNotDefined"), "\(detail)")
    }

    @Test(arguments: [200, 400, 404])
    func aTileBeyondTheEdgeIsEmpty(status: Int) async throws {
        let body =
            #"<ExceptionReport xmlns="http://www.opengis.net/ows/1.1"><Exception exceptionCode="TileOutOfRange" locator="TILEROW"><ExceptionText>Row 9 is out of range</ExceptionText></Exception></ExceptionReport>"#
        let (outcome, requests) = try await fetchOne(.reply(status, body: Array(body.utf8)))
        #expect(outcome == .empty && requests == 1)
    }

    @Test func documentsThatAreNoExceptionStayWhatTheyWere() async throws {
        for (body, cause) in [
            ("<html><body>ExceptionReport &lt;ServiceExceptionReport&gt;</body></html>", FailureCause.htmlPage),
            ("<a><ServiceExceptionReport/></a>", .wrongType), ("{\"exceptions\":[]}", .wrongType), ("<", .wrongType),
            ("<!--", .wrongType), ("<ServiceExceptionReport", .wrongType),
        ] {
            let (outcome, _) = try await fetchOne(.reply(200, body: Array(body.utf8)))
            guard case .failed(let found, _) = outcome else { return #expect(Bool(false), "\(body): \(outcome)") }
            #expect(found == CauseCode(cause), "\(body)")
        }
    }

    @Test func aServerThatOnlySaysSoEndsTheJobWithItsWords() async throws {
        let server = try ScriptedServer { _ in .reply(200, body: Array(Self.report.utf8)) }
        defer { server.stop() }
        let tileset = try TilesetFile(
            text:
                "url: \"\(server.url)/wms?service=WMS&version=1.1.1&request=GetMap&layers=x&srs=EPSG:3857&format=image/png&bbox={bbox-epsg-3857}\"",
            name: "t", folder: URL(fileURLWithPath: "/")
        ).resolved()
        let tiles = (0..<64).compactMap { TileID(zoom: 6, x: $0, y: 9) }
        let error = await #expect(throws: OriginsError.self) { _ = try await fetch(tileset, tiles) }
        #expect(
            error?.code == .allRefused && error?.message.contains("200: LayerNotDefined") == true,
            "\(error?.message ?? "")")
        #expect(server.requests.allSatisfy { $0.path.contains("exceptions=application/vnd.ogc.se_xml") })
    }

    /// A PNG of 512 x 512 pixels.
    private static let large: [UInt8] = picture(512)

    private static func picture(_ side: UInt32) -> [UInt8] {
        func big(_ value: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
            let covered = Array(name.utf8) + content
            return big(UInt32(content.count)) + covered + big(Zlib.crc32(covered))
        }
        return [0x89, 0x50, 0x4E, 0x47, 13, 10, 0x1A, 10]
            + chunk("IHDR", big(side) + big(side) + [8, 2, 0, 0, 0]) + chunk("IDAT", Array("pixels".utf8))
            + chunk("IEND", [])
    }

    /// Capabilities of one layer in Web Mercator and one in another system.
    private static func capabilities(_ url: String) -> String {
        let half = 20_037_508.342789244
        let matrices = (0...5).map { zoom in
            "<TileMatrix><Identifier>m\(zoom)</Identifier><ScaleDenominator>\(559_082_264.028717 / Double(1 << zoom))</ScaleDenominator><TopLeftCorner>-\(half) \(half)</TopLeftCorner><TileWidth>256</TileWidth><TileHeight>256</TileHeight></TileMatrix>"
        }
        func layer(_ id: String, _ grid: String) -> String {
            "<Layer><Title>\(id)</Title><Identifier>\(id)</Identifier><Style isDefault=\"true\"><Identifier>d</Identifier></Style><Format>image/png</Format><TileMatrixSetLink><TileMatrixSet>\(grid)</TileMatrixSet></TileMatrixSetLink><ResourceURL format=\"image/png\" resourceType=\"tile\" template=\"\(url)/t/{Style}/{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}.png\"/></Layer>"
        }
        return
            "<Capabilities xmlns=\"http://www.opengis.net/wmts/1.0\"><Contents>\(layer("roads", "web"))\(layer("swiss", "ch"))<TileMatrixSet><Identifier>web</Identifier><SupportedCRS>EPSG:3857</SupportedCRS>\(matrices.joined())</TileMatrixSet><TileMatrixSet><Identifier>ch</Identifier><SupportedCRS>EPSG:2056</SupportedCRS></TileMatrixSet></Contents></Capabilities>"
    }

    private func serving(_ body: (ScriptedServer) async throws -> Void) async throws {
        let server = try ScriptedServer { request in
            let host = "http://\(request.headers["host"] ?? "")"
            if request.path.hasPrefix("/t/") { return .reply(200, body: Self.large) }
            return request.path.contains("GetCapabilities")
                ? .reply(200, body: Array(Self.capabilities(host).utf8)) : .reply(404)
        }
        defer { server.stop() }
        try await body(server)
    }

    @Test func aLayerBecomesItsTiles() async throws {
        try await serving { server in
            let file = try TilesetFile(source: "wmts:\(server.url)/wmts?a=1#roads", folder: URL(fileURLWithPath: "/"))
            let tileset = try await OriginMetadata.resolve(file, environment: [:])
            #expect(tileset.source == TileSource(.templates, "\(server.url)/t/d/web/m{z}/{y}/{x}.png"))
            #expect(tileset.zooms == ZoomRange(min: 0, max: 5) && tileset.tileSize == 256 && tileset.format == .png)
            let basket = try await fetch(tileset, [try #require(TileID(zoom: 3, x: 2, y: 1))])
            // The grid says 256, and the server sends 512: it is shown at 256.
            #expect(basket["3/2/1"]?.outcome == .stored(body: Self.large, etag: nil, lastModified: nil))
            #expect(
                server.requests.map(\.path) == [
                    "/wmts?a=1&service=WMTS&request=GetCapabilities&version=1.0.0", "/t/d/web/m3/1/2.png",
                ])
        }
    }

    /// In TileJSON the size is the one at which a tile is shown, and servers send larger pictures for it.
    @Test func aSizeInTileJSONRefusesNoPicture() async throws {
        let server = try ScriptedServer { request in
            guard request.path.hasSuffix(".json") else { return .reply(200, body: Self.large) }
            let host = "http://\(request.headers["host"] ?? "")"
            return .reply(200, body: Array(#"{"tiles":["\#(host)/{z}/{x}/{y}.png"],"tileSize":256,"maxzoom":3}"#.utf8))
        }
        defer { server.stop() }
        for (more, isKept) in [("", true), ("tile_size: 512", true), ("tile_size: 256", false)] {
            let file = try TilesetFile(
                text: "url: \(server.url)/t.json\n\(more)", name: "t", folder: URL(fileURLWithPath: "/"))
            let tileset = try await OriginMetadata.resolve(file, environment: [:])
            #expect(tileset.tileSize == (more.hasSuffix("512") ? 512 : 256))
            let received = try Tileset(canonicalJSON: tileset.canonicalJSON)
            let outcome = try await fetch(received, [.root])["0/0/0"]?.outcome
            if isKept {
                #expect(outcome == .stored(body: Self.large, etag: nil, lastModified: nil), "\(more)")
            } else {
                guard case .failed(_, let detail)? = outcome else { return #expect(Bool(false), "\(more)") }
                #expect(detail.contains("512 x 512") && detail.contains("tile_size 256"), "\(detail)")
            }
        }
    }

    @Test(arguments: [("swiss", "EPSG:2056"), ("road", "did you mean 'roads'"), ("", "'roads', 'swiss'")])
    func anotherLayerIsRefusedWithTheReason(layer: String, reason: String) async throws {
        try await serving { server in
            let file = try TilesetFile(source: "wmts:\(server.url)/wmts#\(layer)", folder: URL(fileURLWithPath: "/"))
            let error = await #expect(throws: OriginsError.self) {
                try await OriginMetadata.resolve(file, environment: [:])
            }
            #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        }
    }

    @Test func aServiceOfArcGISBecomesItsTiles() async throws {
        let levels = (0...3).map { "{\"level\":\($0),\"resolution\":\(156_543.03392800014 / Double(1 << $0))}" }
        let json =
            #"{"tileInfo":{"rows":256,"cols":256,"format":"MIXED","origin":{"x":-20037508.342787,"y":20037508.342787},"spatialReference":{"wkid":102100,"latestWkid":3857},"lods":[\#(levels.joined(separator: ","))]}}"#
        let server = try ScriptedServer { request in
            request.path.contains("f=json") ? .reply(200, body: Array(json.utf8)) : .reply(200, body: Self.png)
        }
        defer { server.stop() }
        let file = try TilesetFile(
            source: "\(server.url)/arcgis/rest/services/World/MapServer", folder: URL(fileURLWithPath: "/"))
        let tileset = try await OriginMetadata.resolve(file, environment: [:])
        // PNG where JPEG is usual: the service says that it mixes them.
        let basket = try await fetch(tileset, [try #require(TileID(zoom: 2, x: 3, y: 1))])
        #expect(basket["2/3/1"]?.outcome == .stored(body: Self.png, etag: nil, lastModified: nil))
        #expect(server.requests.last?.path == "/arcgis/rest/services/World/MapServer/tile/2/1/3?blankTile=false")
        #expect(try Tileset(canonicalJSON: tileset.canonicalJSON) == tileset)
    }
}
