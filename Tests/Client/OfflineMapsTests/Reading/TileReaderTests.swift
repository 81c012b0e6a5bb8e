import Foundation
import GRDB
import PackageFiles
import Packages
import Synchronization
import Testing
import TileBodies
import Tiles

@testable import OfflineMaps

/// Tiles of installed packages.
struct TileReaderTests {
    let scratch: StoreScratch

    init() throws { scratch = try StoreScratch() }

    private func text(_ answer: TileAnswer) throws -> String? {
        switch answer {
        case .found(let tile):
            let plain = try BodyCoding.gzip.unpack([UInt8](tile.body), limit: 1 << 20)
            // The layer's name: after two fields of one byte and a length each.
            return String(decoding: plain[4..<(4 + Int(plain[3]))], as: UTF8.self)
        case .empty: return "empty"
        case .absent: return nil
        }
    }

    @Test func everyTileOfAPackageIsFoundAndNoOther() throws {
        let unit = try scratch.unit("EE")
        let reader = TileReader(scratch.folder, [unit])
        let map = try TestMap((7, 72, 37), depth: 2)
        for tile in map.tiles {
            guard case .found(let found) = try reader.tile(tile) else {
                Issue.record("tile \(tile) is not found")
                continue
            }
            #expect([UInt8](found.body) == TestMap.body("EE 1", tile))
            #expect(found.coding == .gzip && found.mediaType == "application/vnd.mapbox-vector-tile" && !found.isStale)
            #expect(found.origin.item == .package("EE") && found.origin.attribution == "© Test")
        }
        for tile in try [(7, 73, 37), (10, 576, 296), (8, 0, 0)].map({
            try #require(TileID(zoom: $0.0, x: $0.1, y: $0.2))
        }) {
            #expect(try text(try reader.tile(tile)) == nil)
        }
    }

    @Test func aClaimedTileThatIsNotThereIsEmpty() throws {
        let tile = try #require(TileID(zoom: 8, x: 144, y: 75))
        let unit = try scratch.unit("EE", without: [tile])
        let reader = TileReader(scratch.folder, [unit])
        #expect(try text(try reader.tile(tile)) == "empty")
        // Another package that claims it is asked next.
        reader.replace([unit, try scratch.unit("LV", cell: (6, 36, 18), depth: 3)])
        #expect(try text(try reader.tile(tile)) == "LV 1 8/144/75")
    }

    @Test func newestDataThenSmallestPackageIsPreferred() throws {
        let tile = try #require(TileID(zoom: 7, x: 72, y: 37))
        let small = try scratch.unit("small")
        let large = try scratch.unit("large", cell: (6, 36, 18), depth: 3)
        #expect(try text(try TileReader(scratch.folder, [large, small]).tile(tile))?.hasPrefix("small") == true)
        let newer = try scratch.unit("newer", cell: (6, 36, 18), depth: 3, date: "2026-01-01")
        #expect(try text(try TileReader(scratch.folder, [small, newer]).tile(tile))?.hasPrefix("newer") == true)
    }

    @Test func tilesetsAndEditionsAreKeptApart() throws {
        let tile = try #require(TileID(zoom: 7, x: 72, y: 37))
        let base = try scratch.unit("EE")
        let german = try scratch.unit("DE", edition: Edition(language: "de"))
        let terrain = try scratch.unit("T", edition: Edition(group: "terrain"), tileset: "hills")
        let reader = TileReader(scratch.folder, [terrain, german, base])
        func found(_ tileset: String?, _ edition: Edition = Edition()) throws -> Substring? {
            try text(try reader.tile(tile, of: tileset, edition))?.split(separator: " ").first
        }
        #expect(try found(nil) == "EE")
        #expect(try found("demo", Edition(language: "de")) == "DE")
        #expect(try found("demo", Edition(language: "fr")) == "EE")
        #expect(try found("hills") == nil)
        #expect(try found("hills", Edition(group: "terrain", language: "de")) == "T")
        #expect(try found("other") == nil)
        reader.replace([german])
        #expect(try found(nil) == "DE")
    }

    @Test func nearestGivesTheTileOrAnAncestor() throws {
        let reader = TileReader(scratch.folder, [try scratch.unit("EE")])
        let deep = try #require(TileID(zoom: 14, x: 72 << 7, y: 37 << 7))
        #expect(try reader.nearest(deep)?.id == TileID(zoom: 9, x: 288, y: 148))
        #expect(try reader.nearest(try #require(TileID(zoom: 14, x: 0, y: 0)))?.id == .root)
        reader.replace([])
        #expect(try reader.nearest(deep) == nil)
    }

    @Test func statusAndCoverUseTheMasks() throws {
        let reader = TileReader(scratch.folder, [try scratch.unit("EE")])
        let cell = try #require(TileID(zoom: 7, x: 72, y: 37))
        #expect(reader.status(cell) == .full)
        #expect(reader.status(.root) == .partial)
        #expect(reader.status(try #require(TileID(zoom: 7, x: 73, y: 37))) == .missing)
        let center = Coordinate(longitude: cell.bounds.center.longitude, latitude: cell.bounds.center.latitude)
        let zooms = try #require(ZoomRange(min: 0, max: 9))
        #expect(reader.isCovered(.around([center], meters: 100), zooms))
        #expect(!reader.isCovered(.around([center], meters: 100), try #require(ZoomRange(min: 0, max: 10))))
        #expect(!reader.isCovered(.around([center], meters: 500_000), zooms))
        #expect(reader.isCovered(.geometry(Geometry(points: [center])), zooms))
        #expect(!reader.isCovered(.box(.world), zooms))
        #expect(!reader.isCovered(.geometry(Geometry()), zooms))
    }

    @Test(arguments: [PackageFormat.mbtilesFlat, .mbtilesNormalized, .carto, .pmtiles])
    func readsEveryFormat(_ format: PackageFormat) throws {
        var unit = try scratch.unit("EE")
        let original = try #require(scratch.folder.file(unit.path))
        let target = original.deletingLastPathComponent().appending(path: "out" + format.fileExtension)
        _ = try PackageExport.write(from: original, format: format, to: target)
        unit.path = try #require(scratch.folder.relative(target))
        if format == .pmtiles { unit.format = .pmtiles }
        let reader = TileReader(scratch.folder, [unit])
        for tile in try TestMap((7, 72, 37), depth: 2).tiles {
            #expect(try text(try reader.tile(tile)) == "EE 1 \(tile)")
        }
    }

    @Test func damagedFilesAreReportedOnceAndOthersAnswer() throws {
        let tile = try #require(TileID(zoom: 7, x: 72, y: 37))
        let (bad, good) = (try scratch.unit("AA"), try scratch.unit("EE"))
        let file = try #require(scratch.folder.file(bad.path))
        let reports = Mutex<[String]>([])
        let reader = TileReader(scratch.folder, [bad, good]) { unit, error in
            reports.withLock { $0.append("\(unit.item.identifier) \(error.code)") }
        }
        try Data(repeating: 7, count: 5_000).write(to: file)
        for _ in 0..<3 { #expect(try text(try reader.tile(tile)) == "EE 1 7/72/37") }
        #expect(reports.withLock { $0 } == ["AA damaged"])
        reader.replace([bad])
        let error = #expect(throws: StoreError.self) { try reader.tile(tile) }
        #expect(error?.code == .damaged)
        try FileManager.default.removeItem(at: file)
        #expect(throws: StoreError.self) { try reader.tile(tile) }
    }

    @Test(arguments: [
        "CREATE VIEW tiles AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n) SELECT 7 AS zoom_level, i AS tile_column, i AS tile_row, x'00' AS tile_data FROM n",
        "CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data)",
        "CREATE TABLE other (x)",
    ])
    func filesThatAreNoIndexedTilesAreRefused(_ schema: String) throws {
        var unit = try scratch.unit("EE")
        let file = scratch.url.appending(path: "bad.mbtiles")
        let queue = try DatabaseQueue(path: file.path)
        try queue.write { try $0.execute(sql: "CREATE TABLE metadata (name, value); \(schema)") }
        try queue.close()
        // Not before it is installed, and not where it stays outside of the store.
        #expect(try !FileProbe.isSound(file, unit))
        unit.path = file.path
        let reader = TileReader(scratch.folder, [unit])
        #expect(throws: StoreError.self) { try reader.tile(.root) }
    }

    @Test func onlySomeFilesStayOpen() throws {
        let units = try (0..<12).map { try scratch.unit("P\($0)", cell: (7, 60 + $0, 37), depth: 0) }
        let reader = TileReader(scratch.folder, units, openFiles: 4)
        for _ in 0..<3 {
            for number in 0..<12 {
                let tile = try #require(TileID(zoom: 7, x: 60 + number, y: 37))
                #expect(try text(try reader.tile(tile))?.hasPrefix("P\(number) ") == true)
                #expect(reader.openFiles <= 4)
            }
        }
        reader.replace([])
        #expect(reader.openFiles == 0)
    }

    @Test func anUnlinkedFileStaysReadableUntilTheSwap() throws {
        let unit = try scratch.unit("EE")
        let reader = TileReader(scratch.folder, [unit])
        #expect(try text(try reader.tile(.root)) == "EE 1 0/0/0")
        try FileManager.default.removeItem(at: try #require(scratch.folder.file(unit.path)))
        #expect(try text(try reader.tile(.root)) == "EE 1 0/0/0")
    }
}
