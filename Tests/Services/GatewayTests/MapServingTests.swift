import Catalog
import CatalogFormat
import Digests
import Files
import Foundation
import Testing
import TextFormats
import TileBodies
import Tiles

@testable import Gateway

/// Tiles, TileJSON and styles of real packages over real sockets.
@Suite(.timeLimit(.minutes(15))) struct MapServingTests {
    private static func west() throws -> SmallMap {
        try SmallMap(try #require(TileID(zoom: 4, x: 9, y: 4)), maxZoom: 7, name: "west")
    }
    private static func east() throws -> SmallMap {
        try SmallMap(try #require(TileID(zoom: 4, x: 10, y: 4)), maxZoom: 6, name: "east")
    }

    private static func serving(
        options: (inout GatewayOptions) -> Void = { _ in }, body: (GatewayFixture) async throws -> Void
    ) async throws {
        let (west, east) = (try west(), try east())
        let gateway = try await GatewayFixture(
            options: options,
            fill: { catalog, folder in
                try catalog.publish("W", west, in: folder, dataDate: "2026-01-01")
                try catalog.publish("E", east, in: folder, dataDate: "2026-02-01", withPMTiles: false)
                try catalog.publishStyle("plain", source: "streets", in: folder)
            })
        do { try await body(gateway) } catch {
            await gateway.end()
            throw error
        }
        await gateway.end()
    }

    @Test func everyTileIsThatOfThePackageInBothFormats() async throws {
        let map = try Self.west()
        try await Self.serving { gateway in
            for tile in map.mask.tiles(in: map.zooms) {
                for format in ["mbtiles", "pmtiles"] {
                    let path = "/tiles/W@1/\(tile).pbf?format=\(format)"
                    let answer = try await gateway.get(path, ["Accept-Encoding": "gzip"])
                    guard let body = map.bodies[tile] else {
                        #expect(answer.status == 204 && answer.body.isEmpty, "\(path)")
                        continue
                    }
                    #expect(answer.status == 200 && answer.body == body, "\(path)")
                    #expect(answer.header("content-encoding") == "gzip")
                    #expect(answer.header("etag") == "\"\(Digest(of: body).hex.prefix(32))\"")
                }
            }
        }
    }

    @Test func anotherCatalogIsReadWithAToken() async throws {
        let map = try Self.east()
        let home = FileManager.default.temporaryDirectory.appendingPathComponent("packhorse-other-\(UUID().uuidString)")
        // A folder that stays takes space only.
        defer { try? FileManager.default.removeItem(at: home) }
        let tokens = home.appendingPathComponent("tokens")
        let place = home.appendingPathComponent("staging")
        try FileManager.default.createDirectory(at: tokens, withIntermediateDirectories: true)
        try Data("sha256:\(DigestText.of("viewer"))\nroles: viewer\n".utf8)
            .write(to: tokens.appendingPathComponent("viewer.token"))
        let staging = try Catalog(place, create: true, baseURL: "http://maps.example.com/")
        try staging.publish("W", map, in: home, dataDate: "2026-04-01")
        let viewer = ["Authorization": "Bearer viewer"]
        let change = { (options: inout GatewayOptions) in
            options.tokens = tokens
            options.otherCatalogs = ["staging": place]
        }
        try await Self.serving(options: change) { gateway in
            let list = try await gateway.get("/v1/catalogs", viewer)
            #expect(list.text.contains(#"["staging"]"#), "\(list.text)")
            let root = "/v1/catalogs/staging"
            #expect(try await gateway.get("\(root)/catalog.json").status == 401)
            let index = try await gateway.wait("\(root)/catalog.json", viewer) { $0.status == 200 }
            #expect(index.text.contains("2026-04-01") && index.header("cache-control") == "private, no-cache")
            let document = try await gateway.get("\(root)/tiles/W@1.json", viewer)
            #expect(document.text.contains("\(root)/tiles/W@1/{z}/{x}/{y}"), "\(document.text)")
            let tile = try #require(map.bodies.keys.max())
            let answer = try await gateway.get("\(root)/tiles/W@1/\(tile).pbf", viewer)
            #expect(answer.status == 200 && answer.header("cache-control") == "private, max-age=3600", "\(answer.text)")
            #expect(try await gateway.get("\(root)/tiles/W@1/\(tile).pbf").status == 401)
            #expect(try await gateway.get("/v1/catalogs/none/catalog.json", viewer).status == 404)
        }
    }

    /// Tiles, TileJSON, the view of the package and CARTO's list of one that is published as PMTiles alone.
    @Test func pmtilesAloneIsServed() async throws {
        let map = try Self.west()
        let gateway = try await GatewayFixture(fill: { catalog, folder in
            try catalog.publishPMTiles("W", map, in: folder)
            try catalog.publish("E", try Self.east(), in: folder)
        })
        do {
            for tile in map.mask.tiles(in: map.zooms) {
                let answer = try await gateway.get("/tiles/W@1/\(tile).pbf", ["Accept-Encoding": "gzip"])
                #expect(answer.status == (map.bodies[tile] == nil ? 204 : 200) && answer.body == map.bodies[tile] ?? [])
            }
            let tile = try #require(map.bodies.keys.min())
            #expect(try await gateway.get("/tiles/W@1/\(tile).pbf?format=pmtiles").status == 200)
            #expect(try await gateway.get("/tiles/W@1/\(tile).pbf?format=mbtiles").status == 404)
            let document = try await gateway.get("/tiles/W.json")
            #expect(document.status == 200)
            #expect(String(decoding: document.body, as: UTF8.self).contains("\"vector_layers\":[{"))
            let view = String(decoding: try await gateway.get("/v1/packages/W?from=1").body, as: UTF8.self)
            #expect(view.contains("/packages/1/W.pmtiles") && view.contains("up-to-date"), "\(view)")
            #expect(try await gateway.get("/packages/1/W.pmtiles").header("content-type") == "application/vnd.pmtiles")
            let list = String(decoding: try await gateway.get("/carto/streets/packages.json").body, as: UTF8.self)
            #expect(list.contains("E.mbtiles") && !list.contains("W.pmtiles"), "\(list)")
        } catch {
            await gateway.end()
            throw error
        }
        await gateway.end()
    }

    @Test func formsAndConditionsOfATile() async throws {
        let map = try Self.west()
        try await Self.serving { gateway in
            let tile = try #require(map.bodies.keys.min())
            let body = try #require(map.bodies[tile])
            let packed = try await gateway.get("/tiles/W@1/\(tile)", ["Accept-Encoding": "gzip"])
            #expect(packed.header("cache-control") == "public, max-age=31536000, immutable")
            #expect(packed.header("content-type") == "application/vnd.mapbox-vector-tile")
            #expect(packed.header("vary") == "Accept-Encoding")
            let plain = try await gateway.get("/tiles/W@1/\(tile)")
            #expect(plain.body == (try Gzip.decompress(body)) && plain.header("content-encoding") == nil)
            #expect(plain.header("etag") != packed.header("etag"))
            let same = try await gateway.get(
                "/tiles/W@1/\(tile)",
                ["Accept-Encoding": "gzip", "If-None-Match": packed.header("etag") ?? ""])
            #expect(same.status == 304 && same.body.isEmpty)
            let newest = try await gateway.get("/tiles/W/\(tile).mvt", ["Accept-Encoding": "gzip"])
            #expect(newest.body == body && newest.header("cache-control") == "public, max-age=60")
            let head = try await gateway.get("/tiles/W@1/\(tile)", method: "HEAD", ["Accept-Encoding": "gzip"])
            #expect(head.body.isEmpty && head.header("content-length") == String(body.count))
        }
    }

    /// Path, status.
    private static let refusals: [(String, Int)] = [
        ("/tiles/W@1/4/0/0", 404), ("/tiles/W@1/8/144/64", 404), ("/tiles/W@1/4/16/0", 400), ("/tiles/W@1/23/0/0", 400),
        ("/tiles/W@1/4/-1/0", 400), ("/tiles/W@1/4/9/x", 400), ("/tiles/W@1/4/9/99999999999", 400),
        ("/tiles/W@2/0/0/0", 404), ("/tiles/W@01/0/0/0", 404), ("/tiles/X/0/0/0", 404), ("/tiles/~none/0/0/0", 404),
        ("/tiles/~/0/0/0", 404), ("/tiles/W@1/0/0/0.png", 404), ("/tiles/W@1/0/0/0?format=zip", 400),
        ("/tiles/E@1/0/0/0?format=pmtiles", 404), ("/tiles/W@1/0/0/0?edition=de", 404), ("/tiles/W@1/0/0", 404),
        ("/tiles/X.json", 404), ("/tiles/W@9.json", 404), ("/style/none/style.json", 404),
        ("/style/plain/glyphs/Other/0-255.pbf", 404), ("/world/4/16/0.pbf", 400), ("/world/nothing.json", 404),
        ("/world/tiles.json?language=xx", 400), ("/world/fonts/Demo%20Regular/1-2.pbf", 404),
    ]

    @Test func whatDoesNotExistIsRefused() async throws {
        try await Self.serving { gateway in
            for (path, status) in Self.refusals {
                let answer = try await gateway.get(path)
                #expect(answer.status == status, "\(path)")
            }
            let outside = try await gateway.get("/tiles/W@1/4/0/0")
            #expect(outside.header("cache-control") == "public, max-age=3600")
            // The next version of the package may have the tile.
            let newest = try await gateway.get("/tiles/W/4/0/0")
            #expect(newest.status == 404 && newest.header("cache-control") == "public, max-age=60")
            #expect(outside.text.contains("\"code\":\"outside-the-package\""))
        }
    }

    @Test func aTilesetIsOneMapOfItsPackages() async throws {
        let (west, east) = (try Self.west(), try Self.east())
        try await Self.serving { gateway in
            for tile in Array(west.mask.tiles(in: west.zooms)) + Array(east.mask.tiles(in: east.zooms)) {
                let answer = try await gateway.get("/tiles/~streets/\(tile).pbf", ["Accept-Encoding": "gzip"])
                // The newest data first; a tile inside its mask is its tile, also when it is empty.
                let owner = east.mask.contains(tile) && tile.zoom <= east.zooms.max ? east : west
                #expect(answer.status == (owner.bodies[tile] == nil ? 204 : 200), "\(tile)")
                #expect(answer.body == owner.bodies[tile] ?? [], "\(tile)")
            }
        }
    }

    @Test func aPackageInPartsIsOneMap() async throws {
        let maps = [try Self.west(), try Self.east()]
        let gateway = try await GatewayFixture(
            options: { _ in },
            fill: { catalog, folder in
                for version in 1...2 {
                    let parts = try maps.enumerated().map { index, map in
                        var map = map
                        map.rows = ["name": "Small map \(index + 1)", "note": "\(version)"]
                        let file = folder.appendingPathComponent("part-\(version)-\(index).mbtiles")
                        try map.write(file)
                        var part = try catalog.request(
                            "CA-\(index + 1)", [UInt8](try Data(contentsOf: file)), in: folder,
                            mask: map.mask.cartoWire, zooms: map.zooms, tileset: "streets")
                        part.part = CatalogPart(of: "CA", number: index + 1, count: maps.count)
                        return part
                    }
                    var whole = try catalog.request("CA", [1], in: folder, tileset: "streets")
                    whole.parts = parts
                    _ = try catalog.publish(whole)
                }
            })
        func check() async throws {
            guard case .object(let root)? = JSONValue(json: try await gateway.get("/tiles/CA.json").body) else {
                Issue.record("no TileJSON")
                return
            }
            let place = "http://127.0.0.1:\(gateway.port)/tiles/CA@2/{z}/{x}/{y}.pbf"
            #expect(root["tiles"] == .array([.string(place)]) && root["name"] == .string("Small map"))
            #expect(root["maxzoom"] == .number(7) && root["center"] == nil)
            guard case .array(let bounds)? = root["bounds"] else {
                Issue.record("no bounds")
                return
            }
            #expect(bounds[0] == .number(22.5) && bounds[2] == .number(67.5), "\(bounds)")
            for (map, name) in zip(maps, ["CA-1", "CA-2"]) {
                for tile in map.mask.tiles(in: map.zooms) where tile.zoom > 4 {
                    let answer = try await gateway.get("/tiles/CA@2/\(tile).pbf", ["Accept-Encoding": "gzip"])
                    #expect(answer.body == map.bodies[tile] ?? [], "\(tile)")
                }
                #expect(try await gateway.get("/tiles/\(name).json").text.contains("/tiles/\(name)@2/"))
            }
            #expect(try await gateway.get("/tiles/CA@1/5/18/8.pbf").status == 404, "it may have had more parts")
            #expect(try await gateway.get("/tiles/CA@3.json").status == 404)
            let view = try await gateway.get("/v1/packages/CA").text
            #expect(view.contains("\"parts\":[{") && view.contains("CA-2.mbtiles"), "\(view)")
            #expect(try await gateway.get("/v1/packages/CA-1").text.contains("\"number\":1"))
        }
        do { try await check() } catch {
            await gateway.end()
            throw error
        }
        await gateway.end()
    }

    /// Packages of the build before have a west above the east; MapLibre then shows few tiles, or refuses.
    @Test func boundsOfTileJSONAreNeverReversed() async throws {
        var map = try Self.west()
        map.bounds = "177,-19,-178,-16"
        let fiji = map
        let gateway = try await GatewayFixture(
            options: { _ in },
            fill: { catalog, folder in try catalog.publish("FJ", fiji, in: folder, withPMTiles: false) })
        let answer = try? await gateway.get("/tiles/FJ.json")
        await gateway.end()
        guard case .object(let root)? = JSONValue(json: answer?.body ?? []) else {
            Issue.record("no JSON: \(answer?.text ?? "")")
            return
        }
        #expect(root["bounds"] == .array([-180, -19, 180, -16].map(JSONValue.number)))
    }

    @Test func tileJSONNamesTheVersionAndThisServer() async throws {
        try await Self.serving { gateway in
            let answer = try await gateway.get("/tiles/W.json")
            guard case .object(let root)? = JSONValue(json: answer.body) else {
                Issue.record("no JSON: \(answer.text)")
                return
            }
            #expect(root["tilejson"] == .string("3.0.0"))
            #expect(
                root["tiles"]
                    == .array([.string("http://127.0.0.1:\(gateway.port)/tiles/W@1/{z}/{x}/{y}.pbf")]))
            #expect(root["minzoom"] == .number(0) && root["maxzoom"] == .number(7))
            #expect(root["bounds"] == .array([24, 59, 25, 60].map(JSONValue.number)))
            #expect(root["attribution"] == .string("© test"))
            if case .array(let layers)? = root["vector_layers"] {
                #expect(layers.count == 1)
            } else {
                Issue.record("no vector_layers")
            }
            let whole = try await gateway.get("/tiles/~streets.json")
            #expect(whole.text.contains("/tiles/~streets/{z}/{x}/{y}.pbf"))
            #expect(
                try await gateway.get("/tiles/W@1.json", ["If-None-Match": answer.header("etag") ?? ""]).status == 304)
        }
        try await Self.serving(
            options: { $0.publicURL = "https://maps.example.com/m/" },
            body: { gateway in
                let answer = try await gateway.get("/tiles/W.json")
                #expect(answer.text.contains("https://maps.example.com/m/tiles/W@1/"))
            })
    }

    @Test func aStyleHasAddressesOfThisServer() async throws {
        try await Self.serving { gateway in
            let base = "http://127.0.0.1:\(gateway.port)"
            let style = try await gateway.get("/style/plain/style.json")
            guard case .object(let root)? = JSONValue(json: style.body), case .object(let sources)? = root["sources"]
            else {
                Issue.record("no style: \(style.text)")
                return
            }
            #expect(root["glyphs"] == .string("\(base)/style/plain/glyphs/{fontstack}/{range}.pbf"))
            #expect(root["sprite"] == .string("\(base)/style/plain/sprites/default/sprite"))
            #expect(
                sources["streets"]
                    == .object(["type": .string("vector"), "url": .string("\(base)/tiles/~streets.json")]))
            #expect(
                sources["places"]
                    == .object([
                        "type": .string("geojson"), "data": .string("\(base)/style/plain/data/places.geojson"),
                    ]))
            #expect(try await gateway.get("/style/plain/glyphs/Noto%20Sans/0-255.pbf").text == "glyphs")
            #expect(
                try await gateway.get("/style/plain/sprites/default/sprite.png").header("content-type") == "image/png")
            #expect(try await gateway.get("/style/plain/sprites/default/sprite.json").text == "{}")
        }
    }

    /// A package of MapLibre tiles, and one of heights: media types, TileJSON, and the sources of a style.
    @Test func renderersAreToldHowTilesAreRead() async throws {
        var (mlt, dem) = (try Self.west(), try Self.east())
        let name = Array("land".utf8)
        let tile = [0x15, 1, 4] + name + [0x50, 1, 4, 2, 0x30, 2, 1, 1, 0, 0x13, 0x42, 2, 2, 0x1A, 0x54]
        mlt.bodies = mlt.bodies.mapValues { _ in Gzip.compress(tile) }
        mlt.rows = ["format": "mlt"]
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 13, 10, 0x1A, 10]
        dem.bodies = dem.bodies.mapValues { _ in png }
        dem.rows = ["format": "png", "encoding": "terrarium", "json": #"{"tileSize":256}"#]
        let (streets, hills) = (mlt, dem)
        let gateway = try await GatewayFixture(
            options: { _ in },
            fill: { catalog, folder in
                try catalog.publish("W", streets, in: folder)
                try catalog.publish("E", hills, in: folder, tileset: "hills", withPMTiles: false)
                try catalog.publishStyle("plain", source: "streets", in: folder)
            })
        defer { Task { await gateway.end() } }
        let first = try #require(streets.bodies.keys.min())
        for format in ["mbtiles", "pmtiles"] {
            let answer = try await gateway.get("/tiles/W@1/\(first).mlt?format=\(format)")
            #expect(answer.status == 200 && answer.header("content-type") == "application/vnd.maplibre-tile")
            #expect(answer.body == tile)
        }
        #expect(try await gateway.get("/tiles/W@1/\(first).pbf").status == 404)
        let document = try await gateway.get("/tiles/W.json").text
        #expect(document.contains(#""encoding":"mlt""#) && document.contains("{y}.mlt"), "\(document)")
        let other = try await gateway.get("/tiles/~hills.json").text
        #expect(other.contains(#""encoding":"terrarium""#) && other.contains(#""tileSize":256"#), "\(other)")
        let style = try await gateway.get("/style/plain/style.json")
        guard case .object(let root)? = JSONValue(json: style.body), case .object(let sources)? = root["sources"],
            case .object(let source)? = sources["streets"]
        else { throw CancellationError() }
        #expect(source["encoding"] == .string("mlt"))
    }

    @Test func theDocumentHasTheTypesOfAllAnswers() async throws {
        try await Self.serving(
            options: { $0.page = .embedded() },
            body: { gateway in
                for path in [
                    "/", "/ui/main.js", "/ui/page.css", "/ui/lib/files.json", "/catalog.html", "/catalog.json",
                    "/packages.json",
                    "/packages/1/W.mbtiles", "/packages/1/W.pmtiles", "/tiles/W.json", "/tiles/W/3/4/2",
                    "/style/plain/style.json", "/style/plain/glyphs/Noto%20Sans/0-255.pbf",
                    "/style/plain/sprites/default/sprite.png", "/world/style.json", "/world/sprite.png",
                    "/world/0/0/0.pbf", "/world/towns/6/36/19.pbf", "/world/fonts/Demo%20Regular/0-255.pbf", "/healthz",
                    "/readyz", "/metrics",
                    "/openapi.json", "/problems/not-found", "/v1/regions", "/v1/regions/EE",
                    "/v1/regions/EE/outline", "/v1/packages", "/v1/packages/W",
                ] {
                    let answer = try await gateway.get(path)
                    #expect(answer.status == 200, "\(path)")
                    #expect(AnswerSchema.problems(answer, path) == [], "\(path)")
                }
                #expect(try await gateway.get("/catalog.html").text.contains("packages/1/W.mbtiles?download"))
                #expect(try await gateway.get("/ui/lib/files.json").text == "{\"library\":false}")
                #expect(try await gateway.get("/").header("content-security-policy")?.contains("blob:") == true)
            })
    }

    @Test func theWorldIsABaseMapWithoutData() async throws {
        try await Self.serving { gateway in
            let style = try await gateway.get("/world/style.json")
            #expect(style.text.contains("http://127.0.0.1:\(gateway.port)/world/tiles.json"))
            let tile = try await gateway.get("/world/0/0/0.pbf", ["Accept-Encoding": "gzip"])
            #expect(tile.status == 200 && Gzip.isGzip(tile.body))
            #expect(try await gateway.get("/world/0/0/0.pbf").body == (try Gzip.decompress(tile.body)))
            #expect(try await gateway.get("/world/tiles/0/0/0.pbf", ["Accept-Encoding": "gzip"]).body == tile.body)
            #expect(try await gateway.get("/world/de/tiles/0/0/0.pbf", ["Accept-Encoding": "gzip"]).body != tile.body)
            #expect(try await gateway.get("/world/10/0/512.pbf").status == 204)
            #expect(try await gateway.get("/world/towns/8/147/76.pbf").text.contains("Tartu"))
            #expect(try await gateway.get("/world/towns/10/0/512.pbf").status == 204)
            #expect(try await gateway.get("/world/towns/4/16/0.pbf").status == 400)
            #expect(try await gateway.get("/world/fonts/Demo%20Regular/0-255.pbf").status == 200)
            #expect(try await gateway.get("/world/sprite.png").header("content-type") == "image/png")
        }
    }

    @Test func aDamagedPackageIsAnError() async throws {
        try await Self.serving { gateway in
            let file = gateway.folder.appendingPathComponent("catalog/packages/1/E.mbtiles")
            let size = try Data(contentsOf: file).count
            try FileManager.default.removeItem(at: file)
            try Data(count: size).write(to: file)
            let answer = try await gateway.get("/tiles/E@1/0/0/0")
            #expect(answer.status == 500 && answer.text.contains("\"code\":\"damaged\""))
        }
    }
}
