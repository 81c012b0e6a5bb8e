import Foundation
import GRDB
import TestSupport
import Testing
import Tiles

@testable import OfflineMaps

/// Files of the device whose tiles are not stored as a renderer reads them.
@Suite(.timeLimit(.minutes(15)))
struct ForeignDialectTests {
    private let site: StoreSite
    private let home: URL
    private let layer: [UInt8] = [0x1A, 0x07, 0x0A, 0x01, 0x61, 0x78, 0x02, 0x28, 0x40]

    init() throws {
        site = try StoreSite()
        home = site.scratch.url.appending(path: "device")
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    }

    /// An MBTiles file with one tile, 0/0/0, and a row of metadata.
    private func file(_ name: String, body: [UInt8], row: String, value: Data) throws -> URL {
        let file = home.appending(path: name)
        let queue = try DatabaseQueue(path: file.path)
        try queue.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE metadata (name TEXT, value TEXT);
                    INSERT INTO metadata VALUES ('name', 'carto'), ('format', 'mbvt');
                    CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB);
                    CREATE UNIQUE INDEX places ON tiles (zoom_level, tile_column, tile_row);
                    """)
            try database.execute(sql: "INSERT INTO metadata VALUES (?, ?)", arguments: [row, value])
            try database.execute(sql: "INSERT INTO tiles VALUES (0, 0, 0, ?)", arguments: [Data(body)])
        }
        try queue.close()
        return file
    }

    private func store() async throws -> MapStore { try await site.store { $0.catalog = nil } }

    /// CARTO's packager packs tiles with a preset dictionary: a renderer gets them without it.
    @Test(arguments: [Adoption.copy, .link]) func tilesWithAPresetDictionaryAreRead(_ way: Adoption) async throws {
        let store = try await store()
        // A bare deflate stream of one stored block.
        let stored = [1, UInt8(layer.count), 0, ~UInt8(layer.count), 0xFF] + layer
        let carto = try file("carto.mbtiles", body: stored, row: "shared_zlib_dict", value: Data("roads water".utf8))
        #expect(try await store.adopt(carto, by: way) == [.package("carto")])
        guard case .found(let tile) = try store.tiles.tile(.root) else {
            Issue.record("the tile is not found")
            return
        }
        #expect([UInt8](tile.body) == layer && tile.coding == .plain)
        #expect(tile.mediaType == "application/vnd.mapbox-vector-tile")
        // A body that is no such stream is an error at the door.
        let wrong = try file("wrong.mbtiles", body: [7, 7, 7], row: "shared_zlib_dict", value: Data("roads".utf8))
        let error = await #expect(throws: StoreError.self) { try await store.adopt(wrong) }
        #expect(error?.code == .badFile && error?.message.contains("cannot be unpacked") == true, "\(error as Any)")
    }

    @Test(arguments: [("nutikeysha1", "encrypted"), ("agg_tiles_hash_before_apply", "is a patch")])
    func whatCannotBeReadIsRefused(_ row: String, _ words: String) async throws {
        let store = try await store()
        let file = try file("x.mbtiles", body: layer, row: row, value: Data("00".utf8))
        let error = await #expect(throws: StoreError.self) { try await store.adopt(file) }
        #expect(error?.code == .badFile && error?.message.contains(words) == true, "\(error as Any)")
        #expect(try await store.installed().isEmpty)
    }

    /// Its tables can look like those of MBTiles; its rows are counted from the north.
    @Test func aGeoPackageIsRefused() async throws {
        let store = try await store()
        let file = try file("map.gpkg", body: layer, row: "mark", value: Data())
        try await DatabaseQueue(path: file.path).write { try $0.execute(sql: "PRAGMA application_id = 0x47504B47") }
        let error = await #expect(throws: StoreError.self) { try await store.adopt(file) }
        #expect(error?.code == .badFile && error?.message.contains("is a GeoPackage") == true, "\(error as Any)")
    }
}
