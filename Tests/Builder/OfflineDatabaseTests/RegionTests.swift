import Foundation
import GRDB
import PackageFiles
import Packages
import Testing
import Tiles

@testable import OfflineDatabase

/// The area of a region, and the tiles that a client counts in it.
@Suite(.timeLimit(.minutes(15)))
struct RegionTests {
    @Test func aRectangleIsABoxOfDoubles() async throws {
        let fixture = try await Fixture()
        let (url, _) = try fixture.export([try fixture.package("a.mbtiles", Fixture.square)])
        let text = try #require(try query(url) { try String.fetchOne($0, sql: "SELECT definition FROM regions") })
        // Columns 32...34 and rows 20...22 of zoom 6, a quarter of a tile inwards.
        #expect(
            text == #"{"style_url":"\#(fixture.address)/style.json","min_zoom":0.0,"max_zoom":6.0,"pixel_ratio":1.0,"#
                + #""include_ideographs":false,"bounds":[46.0732306,1.40625,54.9776137,15.46875]}"#)
        let definition = try RegionDefinition.read(text).get()
        #expect(definition.tileCounts(0...6) == [0: 1, 1: 1, 2: 1, 3: 1, 4: 1, 5: 4, 6: 9])
    }

    @Test func anotherShapeIsItsRectangles() async throws {
        let fixture = try await Fixture()
        let places = [(5, 5), (6, 5), (7, 5), (6, 6), (6, 7), (40, 1), (63, 63), (0, 0), (0, 1)]
        let (url, receipt) = try fixture.export([try fixture.package("a.mbtiles", Fixture.tiles(6, places))])
        let text = try #require(try query(url) { try String.fetchOne($0, sql: "SELECT definition FROM regions") })
        let definition = try RegionDefinition.read(text).get()
        guard case .geometry(_, let geometry) = definition.area else {
            Issue.record("the area is a box")
            return
        }
        #expect(geometry.polygons.count == 6)
        #expect(definition.tileCounts(0...6).values.reduce(0, +) == receipt.tiles)
    }

    /// For any set of tiles, a client counts no tile that is not there, and all of the deepest zoom.
    @Test func whateverTheTilesTheClientIsDone() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            let zoom = Int.random(in: 0...8, using: &random)
            let side = 1 << zoom
            let spread = Int.random(in: 1...side, using: &random)
            let start = Int.random(in: 0...(side - spread), using: &random)
            let places = (0..<Int.random(in: 1...60, using: &random)).map { _ in
                (start + Int.random(in: 0..<spread, using: &random), start + Int.random(in: 0..<spread, using: &random))
            }
            var area = TileRectangles(zoom: zoom)
            for (x, y) in places { area.add(x, y) }
            area.joinRuns()
            let rectangles = area.rectangles()
            #expect(rectangles.reduce(0) { $0 + $1.count } == area.count)
            #expect(area.count == UInt64(Set(places.map { $0.0 << 32 | $0.1 }).count))
            let text = RegionDefinition.multiPolygon(rectangles, zoom: zoom, inset: zoom)
            let shape = MercatorShape(try Geometry(geoJSON: Array(text.utf8)))
            let tiles = Fixture.tiles(zoom, places)
            #expect(TileMask(covering: shape, maxZoom: zoom) == TileMask(tiles: tiles, maxZoom: zoom))
        }
    }

    @Test func wholeParentsAreWhole() throws {
        var area = TileRectangles(zoom: 3)
        for x in 1...6 { for y in 1...6 { area.add(x, y) } }
        area.add(0, 0)
        area.joinRuns()
        let parents = area.wholeParents()
        // At zoom 2 a quarter of the world is one column.
        #expect(parents.zoom == 2)
        #expect(parents.rectangles() == [.init(columns: 1...1, rows: 1...2), .init(columns: 2...2, rows: 1...2)])
    }

    /// Vectors of MapLibre's own tests (docs/formats/maplibre-offline.md, "Zooms and numbers of tiles").
    @Test func boxesAreCountedAsClientsDo() {
        func counts(_ south: Double, _ west: Double, _ north: Double, _ east: Double, _ zoom: Int) -> UInt64? {
            RegionDefinition(
                styleURL: "", minZoom: 0, maxZoom: 22, pixelRatio: 1, includesIdeographs: false,
                area: .bounds(south: south, west: west, north: north, east: east)
            ).tileCounts(zoom...zoom)[zoom]
        }
        #expect(counts(37.6609, -122.5744, 37.8271, -122.3204, 10) == 4)
        #expect(counts(37.6609, -122.5744, 37.8271, -122.3204, 22) == 7_254_450)
        #expect(counts(-85, -180, 85, 180, 3) == 64)
        #expect(counts(-20, 156, 20, -157, 0) == 1)
    }

    @Test(arguments: [
        ("vector", 512, 14, 14.0), ("vector", 512, 0, 0), ("raster", 256, 14, 13), ("raster", 512, 14, 14),
        ("raster-dem", 256, 12, 11), ("raster", 1024, 5, 6),
    ])
    func zoomsOfMapsAndTilesFitEachOther(type: String, size: Int, tiles: Int, map: Double) {
        let zooms = ClientZooms(type: type, tileSize: size)
        #expect(zooms.mapZoom(tiles) == map && zooms.tileZoom(map) == tiles)
    }

    @Test func numbersLookLikeDoubles() {
        #expect(
            [0, 14, -0.5, 59.436_96, 1e-9, -180, 0.1].map(RegionDefinition.double) == [
                "0.0", "14.0", "-0.5", "59.43696", "0.0", "-180.0", "0.1",
            ])
    }

    @Test(arguments: [
        #"{"style_url":"s","min_zoom":0,"max_zoom":1.0,"pixel_ratio":1.0,"bounds":[0.0,0.0,1.0,1.0]}"#,
        #"{"style_url":"s","min_zoom":0.0,"max_zoom":1,"pixel_ratio":1.0,"bounds":[0.0,0.0,1.0,1.0]}"#,
        #"{"style_url":"s","min_zoom":0.0,"pixel_ratio":1,"bounds":[0.0,0.0,1.0,1.0]}"#,
        #"{"style_url":"s","min_zoom":0.0,"pixel_ratio":1.0,"bounds":[0,0.0,1.0,1.0]}"#,
        #"{"style_url":"s","min_zoom":0.0,"pixel_ratio":1.0,"bounds":[1.0,0.0,0.0,1.0]}"#,
        #"{"style_url":"s","min_zoom":0.0,"pixel_ratio":1.0}"#, #"{"min_zoom":0.0,"pixel_ratio":1.0}"#, "[]", "",
        #"{"style_url":"s","min_zoom":0.0,"pixel_ratio":1.0,"geometry":{"type":"Nothing"}}"#,
        #"{"style_url":"s","min_zoom":0.0,"pixel_ratio":1.0,"geometry":3}"#,
    ])
    func whatClientsCannotReadIsMalformed(text: String) {
        #expect(throws: RegionDefinition.Malformed.self) { try RegionDefinition.read(text).get() }
    }

    /// Tiles that are known to be empty make the rectangle whole, and are rows without a body.
    @Test func emptyTilesAreRowsToo() async throws {
        let fixture = try await Fixture()
        let holes = try fixture.package("a.mbtiles", Fixture.square.filter { $0.zoom < 6 || $0.x != 33 })
        let mask = TileMask(tiles: Fixture.square, maxZoom: 6)
        let (url, receipt) = try fixture.export([holes]) { $0.emptyTiles = mask }
        #expect(receipt.tiles == UInt64(Fixture.square.count))
        try query(url) { (database) throws in
            #expect(
                try Int.fetchOne(
                    database, sql: "SELECT count(*) FROM tiles WHERE data IS NULL AND compressed = 0 AND x = 33") == 3)
            #expect(try String.fetchOne(database, sql: "SELECT definition FROM regions")?.contains("bounds") == true)
        }
        #expect(try OfflineDatabaseVerify.run(url).isVerified)
    }
}
