import Errors
import Foundation
import GRDB
import Origins
import TestSupport
import Testing
import TileBodies
import Tiles
import Tilesets

private let layer: [UInt8] = [0x1A, 0x07, 0x0A, 0x01, 0x61, 0x78, 0x02, 0x28, 0x40]

/// A folder that goes when the test ends.
final class Scratch {
    let folder: URL
    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("origins-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    deinit { try? FileManager.default.removeItem(at: folder) }
}

private func resolve(_ source: String, _ folder: URL) async throws -> Tileset {
    try await OriginMetadata.resolve(try TilesetFile(source: source, folder: folder), environment: [:])
}

/// The least significant bytes first.
private func little(_ value: UInt64, _ count: Int = 8) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
}

/// A PMTiles file without compression: root and leaf directories as given, then the tile data.
private func pmtiles(root: [UInt8], leaves: [UInt8], tiles: [UInt8], type: UInt8 = 1) -> [UInt8] {
    let metadata = Array(#"{"name":"made","vector_layers":[{"id":"a"}]}"#.utf8)
    var file = Array("PMTiles".utf8) + [3]
    var offset: UInt64 = 127
    for part in [root, metadata, leaves, tiles] {
        file += little(offset) + little(UInt64(part.count))
        offset += UInt64(part.count)
    }
    file += [UInt8](repeating: 0, count: 24) + [0, 1, 1, type, 0, 4]
    file += [UInt8](repeating: 0, count: 16) + [0] + [UInt8](repeating: 0, count: 8)
    return file + root + metadata + leaves + tiles
}

@Suite(.timeLimit(.minutes(15)))
struct ArchiveOriginTests {
    @Test func aPackageOfCARTOWithAPresetDictionaryIsRead() async throws {
        let scratch = try Scratch()
        let file = scratch.folder.appendingPathComponent("carto.mbtiles")
        // Bare deflate streams of one stored block; the second looks back into nothing and is damaged.
        let stored = [1, UInt8(layer.count), 0, ~UInt8(layer.count), 0xFF] + layer
        let queue = try DatabaseQueue(path: file.path)
        try await queue.write { db in
            try db.execute(sql: "CREATE TABLE metadata (name, value)")
            try db.execute(sql: "INSERT INTO metadata VALUES ('format','mbvt'), ('minzoom', '1'), ('maxzoom', '1')")
            try db.execute(
                sql: "INSERT INTO metadata VALUES ('shared_zlib_dict', ?)", arguments: [Data("roads water".utf8)])
            try db.execute(sql: "CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data)")
            try db.execute(sql: "INSERT INTO tiles VALUES (1, 0, 0, ?)", arguments: [Data(stored)])
            try db.execute(sql: "INSERT INTO tiles VALUES (1, 0, 1, ?)", arguments: [Data([7, 7, 7])])
        }
        let tileset = try await resolve("mbtiles:carto.mbtiles", scratch.folder)
        #expect(tileset.format == .mvt)
        let basket = try await fetch(tileset, (0..<2).compactMap { TileID(zoom: 1, x: 0, tmsY: $0) })
        #expect(basket["1/0/1"]?.outcome == .stored(body: Gzip.compress(layer), etag: nil, lastModified: nil))
        guard case .failed(let cause, _)? = basket["1/0/0"]?.outcome else { throw Unexpected() }
        #expect(cause == CauseCode(.leftOut))
        try await queue.write { db in try db.execute(sql: "INSERT INTO metadata VALUES ('mark', 'abc')") }
        for (name, words) in [("nutikeysha1", "encrypted"), ("agg_tiles_hash_before_apply", "packhorse apply")] {
            try await queue.write { db in
                try db.execute(sql: "UPDATE metadata SET name = ? WHERE value = 'abc'", arguments: [name])
            }
            let error = await #expect(throws: OriginsError.self) {
                try await resolve("mbtiles:carto.mbtiles", scratch.folder)
            }
            #expect(error?.message.contains(words) == true)
        }
        try queue.close()
    }

    @Test(arguments: [false, true])
    func mbtilesOfAnyDialectAreRead(isView: Bool) async throws {
        let scratch = try Scratch()
        let path = scratch.folder.appendingPathComponent("a b%.mbtiles").path
        let queue = try DatabaseQueue(path: path)
        try await queue.write { db in
            try db.execute(sql: "CREATE TABLE metadata (name, value)")
            try db.execute(
                sql:
                    "INSERT INTO metadata VALUES ('format','pbf'), ('maxzoom', 3), ('minzoom', '1'), ('bounds','0,0,0,0')"
            )
            try db.execute(
                sql: "CREATE TABLE \(isView ? "rows" : "tiles") (zoom_level, tile_column, tile_row, tile_data)")
            let table = isView ? "rows" : "tiles"
            for (row, data) in [(5, layer), (6, []), (7, Array("<html></html>".utf8))] {
                try db.execute(sql: "INSERT INTO \(table) VALUES (3, 2, ?, ?)", arguments: [row, Data(data)])
            }
            try db.execute(sql: "INSERT INTO \(table) VALUES (3, 2, 4, NULL)")
            if isView { try db.execute(sql: "CREATE VIEW tiles AS SELECT * FROM rows") }
        }
        try queue.close()
        let tileset = try await resolve("mbtiles:a b%.mbtiles", scratch.folder)
        #expect(tileset.zooms.description == "1-3" && tileset.format == .mvt && tileset.bounds == nil)
        let tiles = (0..<8).compactMap { TileID(zoom: 3, x: 2, tmsY: $0) }
        let basket = try await fetch(tileset, tiles)
        #expect(basket.count == 8)
        #expect(basket["3/2/2"]?.outcome == .stored(body: Gzip.compress(layer), etag: nil, lastModified: nil))
        #expect(basket["3/2/1"]?.outcome == .empty && basket["3/2/3"]?.outcome == .empty)
        guard case .failed(let cause, let detail)? = basket["3/2/0"]?.outcome else { throw Unexpected() }
        #expect(cause == CauseCode(.leftOut) && detail.hasSuffix("[html-page]"), "\(detail)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path) == ["a b%.mbtiles"])
    }

    private func archive(_ scratch: Scratch, _ sql: String) async throws {
        let queue = try DatabaseQueue(path: scratch.folder.appendingPathComponent("a.mbtiles").path)
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB);
                    CREATE INDEX places ON tiles (zoom_level, tile_column, tile_row); \(sql)
                    """)
        }
        try queue.close()
    }

    private func hex(_ bytes: [UInt8]) -> String {
        "x'" + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'"
    }

    /// No metadata, zlib bodies, a repeated row: what `convert` reads, a job reads too.
    @Test func aFileWithoutMetadataIsReadByItsTiles() async throws {
        let scratch = try Scratch()
        let body = hex(Zlib.compress(layer))
        try await archive(
            scratch,
            """
            INSERT INTO tiles VALUES (3, 2, 5, \(body)), (5, 1, 1, \(body)), (5, 1, 1, \(body)), (5, 1, 1, NULL),
            (5, 2, 2, \(body)), (5, 2, 2, \(hex(layer.map { $0 == 0x61 ? 0x62 : $0 }))), (40, 1, 1, \(body));
            """)
        let tileset = try await resolve("mbtiles:a.mbtiles", scratch.folder)
        #expect(tileset.format == .mvt && tileset.zooms.description == "3-5")
        let tiles = [(3, 2, 5), (5, 1, 1), (5, 2, 2)].compactMap { TileID(zoom: $0.0, x: $0.1, tmsY: $0.2) }
        let basket = try await fetch(tileset, Array(tiles.prefix(2)))
        for tile in tiles.prefix(2) {
            #expect(
                basket["\(tile)"]?.outcome == .stored(body: Gzip.compress(layer), etag: nil, lastModified: nil))
        }
        // Different bodies of a tile refuse the file, as in `convert` and `verify`.
        let error = await #expect(throws: OriginsError.self) { try await fetch(tileset, tiles) }
        #expect(error?.code == .unsupported && error?.message.contains("several times with different bodies") == true)
    }

    @Test func narrowZoomsOfMetadataAreWidenedWithARemark() async throws {
        let scratch = try Scratch()
        let body = hex(layer)
        try await archive(
            scratch,
            """
            CREATE TABLE metadata (name, value);
            INSERT INTO metadata VALUES ('format', 'PBF'), ('minzoom', '4'), ('maxzoom', '7');
            INSERT INTO tiles VALUES (2, 1, 1, \(body)), (14, 1, 1, \(body));
            """)
        let file = try TilesetFile(source: "mbtiles:a.mbtiles", folder: scratch.folder)
        let found = try await OriginMetadata.pinned(file, environment: [:])
        #expect(found.tileset.zooms.description == "2-14")
        #expect(found.remarks.count == 1 && found.remarks[0].contains("4-7") && found.remarks[0].contains("2-14"))
    }

    /// No tile of the archive could be used, so that the job would fail at its end.
    @Test func aFormatThatTheTilesDoNotHaveIsRefused() async throws {
        let scratch = try Scratch()
        try await archive(
            scratch,
            """
            CREATE TABLE metadata (name, value);
            INSERT INTO metadata VALUES ('format', 'pbf');
            INSERT INTO tiles VALUES (2, 1, 1, \(hex(layer)));
            """)
        func resolve(_ file: TilesetFile) async throws -> TileFormat {
            try await OriginMetadata.resolve(file, environment: [:]).format
        }
        let direct = try TilesetFile(source: "mbtiles:a.mbtiles", folder: scratch.folder, format: "png")
        let error = await #expect(throws: OriginsError.self) { try await resolve(direct) }
        #expect(error?.message.contains("--input-format says png, and the tiles of the archive are") == true)
        let named = try TilesetFile(
            text: "url: mbtiles:a.mbtiles\nformat: png\n", name: "t.yaml", folder: scratch.folder)
        let other = await #expect(throws: OriginsError.self) { try await resolve(named) }
        #expect(other?.message.contains("'format' says png") == true, "\(other?.message ?? "")")
        // The first bytes do not tell one vector format from the other.
        let mlt = try TilesetFile(source: "mbtiles:a.mbtiles", folder: scratch.folder, format: "mlt")
        #expect(try await resolve(mlt) == .mlt)
    }

    /// There is no file to add a key to, where the archive is named directly.
    @Test func anUnknownFormatIsNamedAndCanBeSaid() async throws {
        let scratch = try Scratch()
        try await archive(scratch, "INSERT INTO tiles VALUES (3, 2, 5, x'000000186674797068656963000000')")
        let error = await #expect(throws: OriginsError.self) { try await resolve("mbtiles:a.mbtiles", scratch.folder) }
        #expect(error?.message.contains("HEIC") == true && error?.message.contains("--input-format") == true)
        #expect(error?.message.contains("add format") == false, "\(error?.message ?? "")")
        let file = try TilesetFile(source: "mbtiles:a.mbtiles", folder: scratch.folder, format: "png256")
        #expect(try await OriginMetadata.resolve(file, environment: [:]).format == .png)
        let named = try TilesetFile(text: "url: mbtiles:a.mbtiles\n", name: "t.yaml", folder: scratch.folder)
        let other = await #expect(throws: OriginsError.self) {
            try await OriginMetadata.resolve(named, environment: [:])
        }
        #expect(other?.message.contains("add format") == true)
    }

    @Test(arguments: [("tiles_shallow", "tile_data_id", "tiles_data"), ("map", "tile_id", "images")])
    func aTileWhoseBodyIsLostFails(_ index: String, _ reference: String, _ bodies: String) async throws {
        let scratch = try Scratch()
        let queue = try DatabaseQueue(path: scratch.folder.appendingPathComponent("lost.mbtiles").path)
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE metadata (name, value);
                    INSERT INTO metadata VALUES ('format','pbf'), ('minzoom', 1), ('maxzoom', 1);
                    CREATE TABLE \(index) (zoom_level, tile_column, tile_row, \(reference));
                    CREATE TABLE \(bodies) (\(reference), tile_data);
                    INSERT INTO \(index) VALUES (1, 0, 0, 7), (1, 0, 1, 8), (1, 1, 0, NULL);
                    CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data FROM \(index)
                    JOIN \(bodies) USING (\(reference));
                    """)
            try db.execute(sql: "INSERT INTO \(bodies) VALUES (7, ?)", arguments: [Data(layer)])
        }
        try queue.close()
        let tileset = try await resolve("mbtiles:lost.mbtiles", scratch.folder)
        let tiles = [(0, 0), (0, 1), (1, 0), (1, 1)].compactMap { TileID(zoom: 1, x: $0.0, tmsY: $0.1) }
        let basket = try await fetch(tileset, tiles)
        #expect(basket["1/0/1"]?.outcome == .stored(body: Gzip.compress(layer), etag: nil, lastModified: nil))
        guard case .failed(let cause, let detail)? = basket["1/0/0"]?.outcome else { throw Unexpected() }
        #expect(cause == CauseCode(.leftOut) && detail.contains("has no body for it"))
        #expect(basket["1/1/1"]?.outcome == .empty && basket["1/1/0"]?.outcome == .empty)
    }

    @Test func whatIsNoArchiveIsRefused() async throws {
        let scratch = try Scratch()
        try Data("hello".utf8).write(to: scratch.folder.appendingPathComponent("x"))
        for source in ["mbtiles:x", "pmtiles:x", "mbtiles:absent", "pmtiles:absent", "pmtiles:."] {
            await #expect(throws: OriginsError.self) { try await resolve(source, scratch.folder) }
        }
    }

    /// Its tables can look like those of MBTiles; its rows are counted from the north.
    @Test func aGeoPackageIsRefused() async throws {
        let scratch = try Scratch()
        let queue = try DatabaseQueue(path: scratch.folder.appendingPathComponent("x").path)
        try await queue.write { db in
            try db.execute(
                sql: """
                    PRAGMA application_id = 0x47504B47;
                    CREATE TABLE metadata (name, value);
                    CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data);
                    """)
        }
        try queue.close()
        let error = await #expect(throws: OriginsError.self) { try await resolve("mbtiles:x", scratch.folder) }
        #expect(error?.code == .unsupported && error?.message.contains("is a GeoPackage") == true)
    }

    /// Views that never end: one with tiles everywhere, one of metadata without a row.
    @Test(arguments: ["tiles", "metadata"])
    func viewsThatComputeTheirRowsAreRefusedAtOnce(_ view: String) async throws {
        let scratch = try Scratch()
        let queue = try DatabaseQueue(path: scratch.folder.appendingPathComponent("x").path)
        let tables = [
            "metadata": ("(name, value)", "'name', n"),
            "tiles": ("(zoom_level, tile_column, tile_row, tile_data)", "22, n, 0, x'1a00'"),
        ]
        try await queue.write { db in
            for (name, (columns, values)) in tables {
                let rows = "WITH r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r) SELECT \(values) FROM r WHERE n < 0"
                try db.execute(
                    sql: name == view ? "CREATE VIEW \(name) \(columns) AS \(rows)" : "CREATE TABLE \(name) \(columns)")
            }
        }
        try queue.close()
        let error = await #expect(throws: OriginsError.self) { try await resolve("mbtiles:x", scratch.folder) }
        #expect(error?.message.contains("its view '\(view)' computes") == true, "\(error?.message ?? "")")
    }

    @Test func runsAndLeavesOfPMTilesAreFollowed() async throws {
        let scratch = try Scratch()
        // Root: z0 alone, then a leaf from tile 1 on. Leaf: tiles 1...3 share a body, tile 5 has the other one.
        let root: [UInt8] = [2, 0, 1, 1, 0, 9, 10, 1, 1]
        let leaf: [UInt8] = [2, 1, 4, 3, 1, 9, 9, 1, 10, 0]
        let other: [UInt8] = [0x1A, 0x07, 0x0A, 0x01, 0x62, 0x78, 0x02, 0x28, 0x40]
        let file = pmtiles(root: root, leaves: Array(leaf.prefix(10)), tiles: layer + other)
        try Data(file).write(to: scratch.folder.appendingPathComponent("a.pmtiles"))
        let tileset = try await resolve("pmtiles:a.pmtiles", scratch.folder)
        #expect(
            tileset.name == "made" && tileset.vectorLayers == #"[{"id":"a"}]"# && tileset.zooms.description == "0-4")
        let basket = try await fetch(tileset, (0..<8).compactMap { TileID(hilbertID: $0) })
        for id in 0..<8 {
            let tile = try #require(TileID(hilbertID: UInt64(id)))
            let expected: FetchedTile.Outcome =
                switch id {
                case 0...3: .stored(body: Gzip.compress(layer), etag: nil, lastModified: nil)
                case 5: .stored(body: Gzip.compress(other), etag: nil, lastModified: nil)
                default: .empty
                }
            #expect(basket[tile.description]?.outcome == expected)
        }
    }

    @Test func aHostilePMTilesFileNeverTraps() async throws {
        let scratch = try Scratch()
        let root: [UInt8] = [2, 0, 1, 1, 0, 9, 10, 1, 1]
        let good = pmtiles(root: root, leaves: [2, 1, 4, 3, 1, 9, 9, 1, 10, 0], tiles: layer + layer)
        let url = scratch.folder.appendingPathComponent("a.pmtiles")
        let tiles = (0..<6).compactMap { TileID(hilbertID: $0) }
        let zooms = try #require(ZoomRange(min: 0, max: 2))
        let base = try TilesetFile(
            text: "{url: 'pmtiles:a.pmtiles', format: pbf}", name: "a.yaml", folder: scratch.folder)
        var metadata = SourceMetadata()
        metadata.zooms = zooms
        let tileset = try base.resolved(metadata: metadata)
        var refused = 0
        for offset in 0..<good.count {
            for value in [0xFF, good[offset] ^ 1] as [UInt8] {
                var file = good
                file[offset] = value
                try Data(file).write(to: url)
                do {
                    let basket = try await fetch(tileset, tiles)
                    #expect(basket.count == tiles.count)
                } catch is OriginsError {
                    refused += 1
                }
            }
        }
        for length in stride(from: 0, to: good.count, by: 3) {
            try Data(good.prefix(length)).write(to: url)
            await #expect(throws: OriginsError.self) { try await fetch(tileset, tiles) }
        }
        #expect(refused > 10)
    }
}

/// Real archives are read completely.
struct RealArchiveTests {
    private func everything(_ source: String, _ zooms: String) async throws -> (Tileset, stored: Int, failed: Int) {
        let tileset = try await resolve(source, RealData.folder)
        #expect(tileset.zooms.description == zooms)
        let bounds = tileset.bounds ?? .world
        let mask = TileMask(covering: MercatorShape(bounds), maxZoom: tileset.zooms.max)
        let basket = Basket()
        let origin = try await OriginFactory.open(tileset, environment: [:])
        try await origin.fetch(mask.tiles(in: tileset.zooms)) { basket.add($0) }
        let stored = basket.all.filter { if case .stored = $0.outcome { true } else { false } }.count
        let failed = basket.all.filter { if case .failed = $0.outcome { true } else { false } }.count
        return (tileset, stored, failed)
    }

    @Test(.enabled(if: RealData.absence == nil, "\(RealData.absence ?? "")"))
    func liechtensteinIsWhole() async throws {
        let (tileset, stored, failed) = try await everything("mbtiles:liechtenstein-2013.mbtiles", "0-14")
        #expect(failed == 0 && stored > 100 && tileset.format == .mvt)
        #expect(tileset.vectorLayers?.contains("\"place\"") == true)
    }

    @Test(.enabled(if: RealData.absence == nil, "\(RealData.absence ?? "")"))
    func tonerIsWhole() async throws {
        let (tileset, stored, failed) = try await everything("pmtiles:stamen-toner-z0-3.pmtiles", "0-3")
        #expect(failed == 0 && stored == 85 && tileset.format == .png)
    }

    @Test(.enabled(if: RealData.absence == nil, "\(RealData.absence ?? "")"))
    func whitneyIsWhole() async throws {
        let (tileset, stored, failed) = try await everything("pmtiles:whitney-8-15.pmtiles", "8-15")
        #expect(failed == 0 && stored >= 50 && tileset.format == .webp)
    }
}
