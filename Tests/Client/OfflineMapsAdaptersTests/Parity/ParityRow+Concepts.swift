import Foundation
import OfflineMaps
import TestSupport
import Testing
import Tiles

extension ParityRow {
    /// B1 to B29: Mapbox's style packs, tile packs and regions.
    static let concepts: [ParityRow] = [
        ParityRow("B1") { world in
            let store = try await world.open()
            #expect(try MapWorld.data(try await online(world, store).tile(MapWorld.sharedTile)) == "live 1")
            let style = try await store.resources.load(world.server.address("/live/style.json"))
            #expect(style?.mediaType == "application/json")
        },
        ParityRow("B2") { world in
            let store = try await world.open()
            let source = try online(world, store)
            _ = try await source.tile(MapWorld.sharedTile)
            await store.forceOffline(true)
            #expect(try MapWorld.data(try await source.tile(MapWorld.sharedTile)) == "live 1")
        },
        ParityRow("B3") { world in
            let first = try await world.open()
            _ = try await online(world, first).tile(MapWorld.sharedTile)
            let store = try await world.reopen(first)
            await store.forceOffline(true)
            #expect(try MapWorld.data(try await online(world, store).tile(MapWorld.sharedTile)) == "live 1")
        },
        ParityRow("B4") { world in
            world.server.fail("/live/tiles.json", .status(404))
            let store = try await world.open()
            try await store.addRegion("mine", try live(world))
            _ = await store.end(of: try await store.load("mine"))
            let region = try #require(try await store.region("mine"))
            #expect(region.state != .complete && !(region.missing + region.failed).isEmpty)
        },
        ParityRow("B5") { world in
            let store = try await world.open()
            try await store.bring(.style("streets"))
            for resource in CatalogWriter.resources {
                let url = try #require(URL(string: resource.url))
                #expect(try store.resources.resource(url) != nil, "\(resource.url)")
            }
            #expect(try ParityTable.builder("style-pack", has: "packhorse style-pack"))
        },
        notApplicable("B6"),
        ParityRow("B7") { world in
            let store = try await world.open()
            try await store.bring(.style("streets"))
            let usage = try await store.usage().styles
            try await store.bring(.style("streets"))
            #expect(try await store.usage().styles == usage && usage > 0)
            #expect(world.server.requests("streets.zip").count == 1)
        },
        ParityRow("B8") { world in
            let store = try await world.open()
            try await store.bring(.packs("EE"))
            #expect(try MapWorld.data(store, MapWorld.eastTile) == "data 1")
            #expect(try await store.usage().packCount == 3)
            #expect(try ParityTable.builder("submit", has: "--tile-packs"))
        },
        ParityRow("B9") { _ in
            let mask = TinyMap([CatalogWriter.shared]).mask
            let packs = PackScheme.mapbox.packs(of: mask, zooms: TinyMap.zooms)
            #expect(packs.map(\.index) == [.root, CatalogWriter.shared])
            #expect(packs.map(\.zooms.min) == [0, 6])
        },
        ParityRow("B10") { _ in try band(0, zooms: 0...5, index: 0, tiles: 1_365) },
        ParityRow("B11") { _ in try band(1, zooms: 6...10, index: 6, tiles: 341) },
        ParityRow("B12") { _ in try band(2, zooms: 11...14, index: 11, tiles: 85) },
        ParityRow("B13") { _ in try band(3, zooms: 15...16, index: 12, tiles: 320) },
        ParityRow("B14") { _ in
            let isTrue = try ParityTable.document("docs/tilesets.md").contains("packhorse:tile_packs")
            #expect(isTrue)
        },
        ParityRow("B15") { world in
            let store = try await world.open()
            try await store.addRegion("mine", try MapWorld.region)
            try await store.finish(try await store.load("mine"))
            #expect(Set(world.server.requests("/packs/").map(\.path)).count == 2)
            #expect(try await store.region("mine")?.state == .complete)
        },
        ParityRow("B16") { world in
            let store = try await world.open()
            var region = try MapWorld.region
            region.zooms = try #require(ZoomRange(min: 7, max: 8))
            try await store.addRegion("mine", region)
            try await store.finish(try await store.load("mine"))
            #expect(try await store.region("mine")?.zooms.min == 6)
        },
        ParityRow("B17") { world in
            // A server that knows nothing of maps: it serves files.
            let store = try await world.open()
            try await store.bring(.package("EE"))
            #expect(try MapWorld.data(store, MapWorld.sharedTile) == "data 1")
            #expect(!world.server.requests("EE.mbtiles").isEmpty)
        },
        ParityRow("B18") { world in
            let store = try await world.open()
            let place = MapWorld.place(MapWorld.sharedTile)
            let other = MapWorld.place(MapWorld.eastTile)
            let ring = [place, other, Coordinate(longitude: other.longitude, latitude: place.latitude + 0.1), place]
            let shapes = [
                Geometry(points: [place]), Geometry(lines: [[place, other]]), Geometry(polygons: [[ring]]),
                Geometry(polygons: [[ring], [ring]]),
            ]
            for (number, shape) in shapes.enumerated() {
                let id = RegionID("shape-\(number)")
                try await store.addRegion(
                    id, RegionDefinition(.geometry(shape), zooms: TinyMap.zooms, sources: [.tileset("demo")]))
                try await store.finish(try await store.load(id))
                #expect(store.tiles.isCovered(.geometry(shape), TinyMap.zooms))
            }
        },
        ParityRow("B19") { world in
            let store = try await world.open()
            let (west, east) = (MapWorld.place(MapWorld.southTile), MapWorld.place(MapWorld.eastTile))
            let box = try BoundingBox(
                west: west.longitude, south: min(west.latitude, east.latitude), east: east.longitude,
                north: max(west.latitude, east.latitude))
            let line = RegionDefinition(
                .geometry(Geometry(lines: [[west, east]])), zooms: TinyMap.zooms, sources: [.online(tiles(world))])
            let whole = RegionDefinition(.box(box), zooms: TinyMap.zooms, sources: [.online(tiles(world))])
            #expect(try await store.estimate(line).tiles < store.estimate(whole).tiles)
        },
        ParityRow("B20") { world in
            let store = try await world.open()
            let zooms = try #require(ZoomRange(min: 2, max: 4))
            try await store.addRegion(
                "mine", RegionDefinition(.box(try MapWorld.box), zooms: zooms, sources: [.online(tiles(world))]))
            try await store.finish(try await store.load("mine"))
            let asked = Set(world.server.requests("/live/").map { $0.path.split(separator: "/")[1] })
            #expect(asked == ["2", "3", "4"])
        },
        ParityRow("B21") { world in
            let store = try await world.open()
            try await store.addRegion("mine", try MapWorld.region, context: Data("first".utf8))
            #expect(try await store.region("mine")?.context == Data("first".utf8))
            try await store.setContext(Data("second".utf8), of: "mine")
            #expect(try await store.region("mine")?.context == Data("second".utf8))
        },
        ParityRow("B22") { world in
            let store = try await world.open()
            #expect(try await MapStore.open(world.options) === store)
        },
        ParityRow("B23") { world in
            let store = try await world.open()
            _ = try await online(world, store).tile(MapWorld.sharedTile)
            try await store.bring(.package("EE"))
            let ambient = world.options.folder.appending(path: "ambient.sqlite")
            #expect(FileManager.default.fileExists(atPath: ambient.path))
            try await store.clearAmbientCache()
            #expect(!FileManager.default.fileExists(atPath: ambient.path))
            #expect(try MapWorld.data(store, MapWorld.sharedTile) == "data 1")
        },
        ParityRow("B24") { world in
            let store = try await world.open()
            let paths = ["/live/style.json", "/live/fonts/Sans/0-255.pbf", "/live/sprite.json", "/live/2/1/1.pbf"]
            for path in paths { _ = try await store.resources.load(world.server.address(path)) }
            await store.forceOffline(true)
            for path in paths {
                #expect(try await store.resources.load(world.server.address(path)) != nil, "\(path)")
            }
        },
        ParityRow("B25") { world in
            let store = try await world.open()
            try await store.preload(Data("x".utf8), for: world.server.address("/x"), Freshness())
            let names = try FileManager.default.contentsOfDirectory(atPath: world.options.folder.path)
            #expect(names.contains("ambient.sqlite") && names.contains("store.sqlite"))
        },
        ParityRow("B26") { world in
            let store = try await world.open { $0.quota.ambientBytes = 250_000 }
            let urls = (0..<8).map { world.server.address("/kept/\($0)") }
            for (number, url) in urls.enumerated() {
                let body = Data((0..<100_000).map { _ in UInt8.random(in: 0...255) })
                try await store.preload(body, for: url, Freshness())
                if number > 0 { #expect(try await viewed(url, store) != nil) }
            }
            #expect(try await viewed(urls[0], store) == nil)
            #expect(try await viewed(urls[7], store) != nil)
        },
        ParityRow("B27") { world in
            var region = try MapWorld.region
            region.pixelRatio = 2
            let copy = try JSONDecoder().decode(RegionDefinition.self, from: try JSONEncoder().encode(region))
            guard case .tileset("demo", Edition()) = try #require(copy.sources.first) else {
                Issue.record("another source: \(copy.sources)")
                return
            }
            #expect(copy.zooms == region.zooms && copy.pixelRatio == 2)
        },
        ParityRow("B28") { world in
            let store = try await world.open()
            for id: RegionID in ["b", "a"] { try await store.addRegion(id, try MapWorld.region) }
            #expect(try await store.regions() == ["b", "a"])
        },
        ParityRow("B29") { _ in
            let isThere = try ParityTable.builder("device", has: "packhorse device")
            #expect(isThere)
        },
    ]

    /// The tile server as a source.
    static func tiles(_ world: MapWorld) -> OnlineSource {
        var source = OnlineSource(id: "live", template: world.server.url + "/live/{z}/{x}/{y}.pbf")
        source.requestsPerSecond = 1_000
        return source
    }

    static func online(_ world: MapWorld, _ store: MapStore, _ use: StoreUse = .readOnly) throws -> MapSource {
        MapSource(store, tileset: "live", online: tiles(world), use: use)
    }

    /// One rectangle of the style of the tile server.
    static func live(_ world: MapWorld) throws -> RegionDefinition {
        RegionDefinition(
            .box(try MapWorld.box), zooms: TinyMap.zooms, sources: [.style(world.server.address("/live/style.json"))])
    }

    private static func band(_ number: Int, zooms: ClosedRange<Int>, index: Int, tiles: UInt64) throws {
        let band = PackScheme.mapbox.bands[number]
        #expect(band.zooms == ZoomRange(min: zooms.lowerBound, max: zooms.upperBound) && band.indexZoom == index)
        let tile = try #require(TileID(zoom: index, x: 0, y: 0))
        #expect(PackScheme.Pack(index: tile, zooms: band.zooms).size == tiles)
    }
}
