import Errors
import Foundation
import GRDB
import PackageFiles
import Packages
import Testing
import TileBodies
import Tiles

/// What looks like MBTiles and cannot be read as it is: by every reader the same.
struct ForeignKindTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private let schema = """
        CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB,
        UNIQUE (zoom_level, tile_column, tile_row))
        """

    private func file(_ name: String, body: [UInt8], _ sql: String, _ value: Data = Data()) throws -> URL {
        let file = scratch.file(name)
        try foreignFile(file, [["format", "mbvt"], ["name", "EE"]], [(1, 0, 0, body)], schema: schema)
        let queue = try DatabaseQueue(path: file.path)
        try queue.write { try $0.execute(sql: sql, arguments: sql.contains("?") ? [value] : []) }
        try queue.close()
        return file
    }

    private func refusals(_ file: URL) -> [PackagesError?] {
        func refusal(_ read: () throws -> Void) -> PackagesError? {
            do { try read() } catch { return error as? PackagesError }
            return nil
        }
        let target = scratch.file("out-\(UUID().uuidString)")
        return [
            refusal { _ = try PackageExport.write(from: file, format: .pmtiles, to: target) },
            refusal { _ = try MBTilesContents.read(file) },
            refusal { _ = try Patch.compare(old: file, new: file) },
        ]
    }

    @Test func aGeoPackageIsRefusedByItsName() throws {
        let file = try file("map.gpkg", body: vectorTile("one"), "PRAGMA application_id = 0x47504B47")
        #expect(try ArchiveKind.of(file) == .other("a GeoPackage"))
        for error in refusals(file) { #expect(error?.message.contains("is a GeoPackage") == true, "\(error as Any)") }
        let report = try PackageVerify.run(file)
        #expect(report.problems.map(\.message) == ["it is a GeoPackage"])
        let error = #expect(throws: ArchiveError.self) { try MBTilesArchive(path: file.path, ArchiveAccess()) }
        #expect(error?.code == .unsupported)
    }

    @Test func anEncryptedFileIsRefused() throws {
        let file = try file("x.mbtiles", body: [1, 2, 3], "INSERT INTO metadata VALUES ('nutikeysha1', 'AA')")
        for error in refusals(file) { #expect(error?.code == .unsupported, "\(error as Any)") }
        #expect(try PackageVerify.run(file).problems.contains { $0.code == "encrypted" })
        for access in [ArchiveAccess(), .batch(file.path)] {
            let error = #expect(throws: ArchiveError.self) { try MBTilesArchive(path: file.path, access) }
            #expect(error?.code == .unsupported && error?.message.contains("encrypted") == true)
        }
    }

    @Test func aPresetDictionaryIsUndone() throws {
        let plain = try Gzip.decompress(vectorTile("one"))
        // A bare deflate stream of one stored block.
        let count = UInt8(plain.count)
        let file = try file(
            "carto.mbtiles", body: [1, count, 0, ~count, 0xFF] + plain,
            "INSERT INTO metadata VALUES ('shared_zlib_dict', ?)", Data("roads water".utf8))
        let tile = try #require(TileID(zoom: 1, x: 0, tmsY: 0))
        for access in [ArchiveAccess(), ArchiveAccess(isProbed: true), .batch(file.path)] {
            let archive = SharedArchive(path: file.path, isPMTiles: false, access)
            let body = try #require(try archive.find(tile).body)
            #expect(body.bytes == plain && body.format == .mvt)
            #expect(try archive.find(try #require(TileID(zoom: 1, x: 1, tmsY: 0))).body == nil)
        }
        // It is whole, and still not what other readers need: `catalog import` writes it anew.
        #expect(try PackageVerify.run(file).problems.map(\.code) == ["no-vector-layers", "not-canonical"])
        let target = scratch.file("out.mbtiles")
        _ = try PackageExport.write(from: file, format: .mbtiles, to: target)
        #expect(try PackageVerify.run(target).isVerified)
    }
}
