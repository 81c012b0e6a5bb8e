import Errors
import Foundation
import GRDB
import PMTiles
import PackageFiles
import Packages
import TestSupport
import Testing
import TileBodies
import Tiles

/// Files of other programs: one rule for what is kept, left out and named (docs/decisions/0077).
struct ForeignTilesTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func file(
        _ rows: [[String]], _ tiles: [(Int, Int, Int, [UInt8])], _ sql: String = "", schema: String? = nil
    ) throws -> URL {
        let file = scratch.file("\(UUID().uuidString).mbtiles")
        try foreignFile(file, rows, tiles, schema: schema)
        let queue = try DatabaseQueue(path: file.path)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
        return file
    }

    private func convert(_ file: URL, _ rule: ImportRule = ImportRule()) throws -> (URL, ExportReceipt) {
        let target = scratch.file("\(UUID().uuidString).out")
        return (target, try PackageExport.write(from: file, format: .mbtiles, to: target, rule: rule))
    }

    private func rows(_ url: URL) throws -> [String: String] {
        try DatabaseQueue(path: url.path).read { database in
            try Row.fetchAll(database, sql: "SELECT name, value FROM metadata").reduce(into: [:]) {
                $0[$1[0] as String] = $1[1] as String
            }
        }
    }

    // MARK: - Formats

    /// Every word that writers use, and none: the bodies say what they are.
    @Test(arguments: [
        "mvt", "PBF", "vector", "application/x-protobuf", "application/vnd.mapbox-vector-tile", ".pbf", "png", "PNG",
        "png8",
        "png256", "image/jpg", ".png", "avif", "jpeg80", "pbf ", "", nil,
    ])
    func aFormatIsRecognisedByTheBodies(word: String?) throws {
        let given = [["name", "x"]] + (word.map { [["format", $0]] } ?? [])
        for (body, format) in [
            (vectorTile("one"), "pbf"), (SamplePictures.pngPalette, "png"), (SamplePictures.jpegProgressive, "jpg"),
        ] {
            let (target, receipt) = try convert(try file(given, [(1, 0, 0, body)]))
            #expect(try rows(target)["format"] == format && receipt.remarks.isEmpty)
            #expect(try PackageVerify.run(target).isVerified)
        }
    }

    @Test func aFileWithoutMetadataOrInCapitalsIsRead() throws {
        let none = try file([], [(1, 0, 0, vectorTile("one"))], "DROP TABLE metadata")
        let capitals = try file(
            [], [],
            """
            DROP TABLE metadata; DROP TABLE tiles; CREATE TABLE METADATA (NAME TEXT, VALUE TEXT);
            CREATE TABLE TILES (ZOOM_LEVEL INTEGER, TILE_COLUMN INTEGER, TILE_ROW INTEGER, TILE_DATA BLOB);
            CREATE UNIQUE INDEX PLACES ON TILES (ZOOM_LEVEL, TILE_COLUMN, TILE_ROW);
            INSERT INTO METADATA VALUES ('format', 'MVT'); INSERT INTO TILES VALUES (1, 0, 0, x'\(hex(vectorTile("one")))')
            """)
        for file in [none, capitals] {
            #expect(try ArchiveKind.of(file) == .mbtiles)
            #expect(try convert(file).1.tiles == 1)
            let report = try PackageVerify.run(file)
            #expect(report.isUsable && report.tiles == 1 && report.unusable == 0 && report.format != nil, "\(report)")
            #expect(try MBTilesContents.read(file).zooms.description == "1")
        }
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    @Test func whatIsNoTileFormatIsNamedAndCanBeSaid() throws {
        let heic: [UInt8] = [0, 0, 0, 24] + Array("ftypheic".utf8) + [UInt8](repeating: 7, count: 20)
        let file = try file([["format", "heic"]], [(1, 0, 0, heic)])
        let error = #expect(throws: PackagesError.self) { try convert(file) }
        #expect(error?.code == .badSource)
        for words in ["'heic'", "HEIC", "--input-format"] {
            #expect(error?.message.contains(words) == true, "\(words)")
        }
        // Said, it is taken; then its tile is none.
        let said = #expect(throws: PackagesError.self) { try convert(file, ImportRule(format: .png)) }
        #expect(said?.message.contains("no tile that can be used") == true)
        let mixed = try self.file(
            [], [(1, 0, 0, SamplePictures.pngPalette), (1, 1, 0, SamplePictures.jpegProgressive)])
        #expect(try rows(convert(mixed, ImportRule(format: .jpeg)).0)["format"] == "jpg")
    }

    // MARK: - Bodies

    @Test func zlibIsReadAndPackedAgainAsGzip() throws {
        let plain = try Gzip.decompress(vectorTile("one"))
        let file = try file([["format", "pbf"], ["name", "x"]], [(1, 0, 0, Zlib.compress(plain))])
        let (target, receipt) = try convert(file)
        #expect(receipt.tiles == 1 && receipt.remarks.isEmpty)
        let body = try DatabaseQueue(path: target.path).read {
            try Data.fetchOne($0, sql: "SELECT tile_data FROM tiles")
        }
        #expect(body.map { [UInt8]($0) } == vectorTile("one"))
        let report = try PackageVerify.run(file)
        #expect(report.isUsable && report.unusable == 0 && report.problems.contains { $0.code == "not-canonical" })
        // A renderer gets what it can read.
        let archive = try MBTilesArchive(path: file.path, .batch(file.path))
        let served = try archive.find(try #require(TileID(zoom: 1, x: 0, tmsY: 0))).body?.served()
        #expect(served?.bytes == plain && served?.coding == .identity)
    }

    @Test func picturesOfSeveralFormatsAreKept() throws {
        let file = try file(
            [["format", "png"], ["name", "x"]],
            [
                (1, 0, 0, SamplePictures.pngPalette), (1, 1, 0, SamplePictures.jpegProgressive),
                (1, 1, 1, SamplePictures.jpegProgressive),
            ])
        for format in PackageFormat.fromTiles {
            let target = scratch.file("mixed" + format.fileExtension)
            let receipt = try PackageExport.write(from: file, format: format, to: target)
            #expect(receipt.tiles == 3 && receipt.remarks.otherPictures == 2 && receipt.remarks.unusable == 0)
            let report = try PackageVerify.run(target)
            #expect(report.isVerified && report.otherPictures == 2 && report.format == "png", "\(report.problems)")
        }
        #expect(try PackageVerify.run(file).isUsable)
        let archive = try MBTilesArchive(path: file.path, .batch(file.path))
        let tile = try #require(TileID(zoom: 1, x: 1, tmsY: 0))
        #expect(archive.format == .png)
        #expect(try archive.find(tile).body?.format == .jpeg)
    }

    /// A row without a body, rows that are no tiles, and a body that is none: they are left out, counted and named.
    @Test func whatCannotBeUsedIsLeftOutAndNamed() throws {
        let file = try file(
            [["format", "pbf"], ["name", "x"]],
            [(1, 0, 0, vectorTile("one")), (1, 1, 0, [0, 1, 2, 3]), (1, 1, 1, [])],
            """
            INSERT INTO tiles VALUES (1, 0, 1, NULL), (1, 2, 0, x'1a00'), (23, 5, 5, x'1a00'), (-1, 0, 0, x'1a00'),
            ('a', 0, 0, x'1a00')
            """)
        let (target, receipt) = try convert(file)
        #expect(receipt.tiles == 1 && receipt.remarks.unusable == 7)
        let said = receipt.remarks.examples.map(\.description).joined(separator: "\n")
        for words in ["23/5/(row 5)", "deepest that is read", "1/2/", "no body", "1/1/1", "a/0/0"] {
            #expect(said.contains(words), "\(words) in \(said)")
        }
        #expect(try PackageVerify.run(target).isVerified)
        let report = try PackageVerify.run(file)
        #expect(report.isUsable && !report.isVerified && report.unusable == 7 && report.tiles == 8, "\(report)")
        #expect(report.problems.contains { $0.message.contains("deepest that is read") })
        let error = #expect(throws: PackagesError.self) { try convert(file, ImportRule(isStrict: true)) }
        #expect(error?.code == .badSource && error?.message.contains("--strict") == true)
        #expect(try MBTilesContents.read(file).mask.count(in: .all) == 5)
    }

    @Test func lostBodiesAreCounted() throws {
        let body = hex(vectorTile("one"))
        let file = try file(
            [["format", "pbf"]], [],
            """
            DROP TABLE tiles; CREATE TABLE map (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_id TEXT);
            CREATE UNIQUE INDEX places ON map (zoom_level, tile_column, tile_row);
            CREATE TABLE images (tile_id TEXT PRIMARY KEY, tile_data BLOB);
            CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data FROM map JOIN images USING (tile_id);
            INSERT INTO map VALUES (1, 0, 0, 'a'), (1, 0, 1, 'b'); INSERT INTO images VALUES ('a', x'\(body)');
            """)
        let receipt = try convert(file).1
        #expect(receipt.tiles == 1 && receipt.remarks.unusable == 1)
        #expect(receipt.remarks.examples.map(\.code) == ["lost-body"])
        #expect(throws: PackagesError.self) { try convert(file, ImportRule(isStrict: true)) }
        #expect(try PackageVerify.run(file).isUsable)
    }

    @Test(arguments: [false, true])
    func repeatedRowsWithOneBodyAreTakenOnce(isView: Bool) throws {
        let view =
            isView
            ? """
            ALTER TABLE tiles RENAME TO rows; CREATE VIEW tiles AS SELECT * FROM rows;
            CREATE INDEX places ON rows (zoom_level, tile_column, tile_row);
            """ : ""
        let one = vectorTile("one")
        let tile = (3, 4, 2, one)
        let equal = try file([["format", "pbf"], ["name", "x"]], [tile, tile, (3, 5, 2, one), tile], view)
        let receipt = try convert(equal).1
        #expect(receipt.tiles == 2 && receipt.remarks.repeated == 2 && receipt.remarks.unusable == 0)
        #expect(try PackageVerify.run(equal).isUsable)
        #expect(throws: PackagesError.self) { try convert(equal, ImportRule(isStrict: true)) }
        let different = try file([["format", "pbf"]], [tile, (3, 4, 2, vectorTile("two"))], view)
        let error = #expect(throws: PackagesError.self) { try convert(different) }
        #expect(
            error?.code == .badSource && error?.message.contains("tile 3/4/5 several times") == true, "\(error as Any)")
        let report = try PackageVerify.run(different)
        #expect(!report.isUsable && report.damage?.code == "conflicting-tiles")
        let place = try #require(TileID(zoom: 3, x: 4, tmsY: 2))
        let archive = try MBTilesArchive(path: different.path, .batch(different.path))
        #expect(throws: ArchiveError.self) { try archive.find(place) }
    }

    // MARK: - Metadata

    /// West of the tiles is 0, their east 45: what is nonsense is computed, what fits is kept.
    @Test(arguments: [
        ("0,-66,45,-1", "0,-66,45,-1"), ("-180,-85,180,85", "-180,-85,180,85"),
        ("45,-66,0,-1", "0,-66.5132604,45,0"), ("0,1,-45,66", "0,-66.5132604,45,0"),
        ("170,-20,-170,-10", "0,-66.5132604,45,0"), ("-66,0,-1,45", "0,-66.5132604,45,0"),
        ("0,0,0,0", "0,-66.5132604,45,0"), ("a,b,c,d", "0,-66.5132604,45,0"), ("1,2,3", "0,-66.5132604,45,0"),
    ])
    func boundsTouchTheTiles(given: String, written: String) throws {
        let tiles = [(3, 4, 2, vectorTile("one")), (3, 4, 3, vectorTile("two"))]
        for center in ["x", "10,10,25", "170,80,3", "10,-20,3"] {
            let file = try file([["format", "pbf"], ["bounds", given], ["center", center]], tiles)
            let found = try rows(try convert(file).0)
            #expect(found["bounds"] == written, "\(given)")
            let numbers = try #require(found["center"]).split(separator: ",").compactMap { Double($0) }
            #expect(numbers.count == 3 && numbers[2] == 3, "\(found)")
            let isWorld = given.hasPrefix("-180")
            let kept = center == "10,-20,3" || center == "170,80,3" && isWorld
            #expect(kept ? found["center"] == center : numbers[0] == (isWorld ? 0 : 22.5))
        }
    }

    /// Tiles on both sides of longitude 180, with bounds that run over it: written as the whole width.
    @Test func boundsOverTheAntimeridianAreTheWholeWidth() throws {
        let tiles = [(3, 0, 4, vectorTile("one")), (3, 7, 4, vectorTile("two"))]
        let file = try file([["format", "pbf"], ["bounds", "170,5,-170,20"]], tiles)
        let found = try rows(try convert(file).0)
        #expect(found["bounds"] == "-180,5,180,20")
        #expect(found["center"]?.hasPrefix("180,12.5,") == true, "\(found["center"] ?? "")")
        let target = scratch.file("over.pmtiles")
        _ = try PackageExport.write(from: file, format: .pmtiles, to: target)
        let header = try PMTilesArchive(path: target.path, .batch(target.path)).file.header
        #expect(header.bounds == [-180, 5, 180, 20])
    }

    @Test func theRestOfTheRowJSONStays() throws {
        let json = #"{"vector_layers":[{"id":"land","description":"mine"}],"tilestats":{"layerCount":1}}"#
        for given in [json, "\u{FEFF}" + json] {
            let file = try file(
                [["format", "pbf"], ["name", "\u{FEFF}x"], ["json", given]], [(3, 4, 2, vectorTile("one"))])
            let found = try rows(try convert(file).0)
            #expect(
                found["json"]
                    == #"{"tilestats":{"layerCount":1},"vector_layers":[{"description":"mine","fields":{"name":"String"},"id":"land","maxzoom":3,"minzoom":3}]}"#
            )
            #expect(found["name"] == "x")
        }
        let complete = #"{"vector_layers": [{"id": "land", "fields": {}}], "tilestats": 1}"#
        let file = try file([["format", "pbf"], ["json", "\u{FEFF}" + complete]], [(3, 4, 2, vectorTile("one"))])
        #expect(try rows(try convert(file).0)["json"] == complete)
    }

    /// Zooms of the index, where metadata say less.
    @Test func zoomsAreThoseOfTheTiles() throws {
        let tiles = [(2, 1, 1, vectorTile("one")), (9, 100, 100, vectorTile("two")), (23, 1, 1, vectorTile("deep"))]
        let file = try file(
            [["format", "pbf"], ["minzoom", "4"], ["maxzoom", "7"]], tiles,
            "CREATE INDEX places ON tiles (zoom_level, tile_column, tile_row)")
        #expect(try MBTilesArchive(path: file.path, ArchiveAccess()).tileZooms()?.description == "2-9")
        let found = try rows(try convert(file).0)
        #expect(found["minzoom"] == "2" && found["maxzoom"] == "9")
    }

    // MARK: - Files that are not closed, or of another kind

    @Test func aLogNextToAFileIsNamedWithTheCommand() throws {
        let file = try file([["format", "pbf"], ["name", "x"]], [(1, 0, 0, vectorTile("one"))])
        let queue = try DatabaseQueue(path: file.path)
        try queue.writeWithoutTransaction { database in
            _ = try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL")
            try database.execute(
                sql: "PRAGMA wal_autocheckpoint = 0; UPDATE metadata SET value = 'y' WHERE name = 'name'")
        }
        let copy = scratch.file("copy.mbtiles")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: file.path + suffix, toPath: copy.path + suffix)
        }
        try queue.close()
        let report = try PackageVerify.run(copy)
        let problem = try #require(report.problems.first { $0.code == "side-file" })
        #expect(problem.message.contains("copy.mbtiles-wal") && problem.message.contains("wal_checkpoint"))
        #expect(report.isUsable)
        #expect(try rows(try convert(copy).0)["name"] == "y", "the log is read")
    }
}
