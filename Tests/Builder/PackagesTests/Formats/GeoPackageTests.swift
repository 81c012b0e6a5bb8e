import Digests
import Errors
import Files
import Foundation
import GRDB
import PackageFiles
import Packages
import TestSupport
import Testing
import TileBodies
import Tiles

/// GeoPackages of pictures, compared with the rules of OGC 12-128r17.
struct GeoPackageTests {
    let scratch: Scratch
    let package: URL

    init() throws {
        scratch = try Scratch()
        package = try NoisePicture.package(scratch)
    }

    private func export(_ source: URL, _ name: String = "out.gpkg") throws -> (url: URL, receipt: ExportReceipt) {
        let url = scratch.file(name)
        return (url, try PackageExport.write(from: source, format: .gpkg, to: url))
    }

    @Test func theBytesAreTheSameEachTimeAndVerified() throws {
        let (url, receipt) = try export(package)
        #expect(try export(package, "again.gpkg").receipt == receipt)
        #expect(try Digest.ofFile(url).digest == receipt.digest && receipt.size == url.fileSize())
        #expect(try ArchiveKind.of(url) == .geoPackage)
        let (report, source) = (try PackageVerify.run(url, expecting: receipt.digest), try PackageVerify.run(package))
        #expect(report.isVerified && report.seal == .valid && report.kind == "GeoPackage", "\(report.problems)")
        #expect(report.tiles == source.tiles && report.tilesHash == source.tilesHash && report.format == "png")
        #expect(
            try PackageVerify.run(url, expecting: Digest(of: [UInt8]())).problems.map(\.code) == ["digest-mismatch"])
    }

    @Test func theTablesAreThoseOfTheStandard() throws {
        let (url, receipt) = try export(package)
        let archive = try MBTilesArchive(path: package.path, .batch(package.path))
        try DatabaseQueue(path: url.path).read { (database: Database) throws in
            func one<Value: DatabaseValueConvertible>(_ type: Value.Type, _ sql: String) throws -> Value? {
                try Value.fetchOne(database, sql: sql)
            }
            #expect(try one(Int.self, "PRAGMA application_id") == 0x4750_4B47)
            #expect(try one(Int.self, "PRAGMA user_version") == 10_300)
            #expect(try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").isEmpty)
            let systems = try Int.fetchAll(database, sql: "SELECT srs_id FROM gpkg_spatial_ref_sys ORDER BY srs_id")
            #expect(systems == [-1, 0, 3857, 4326])
            let contents = try #require(try Row.fetchOne(database, sql: "SELECT * FROM gpkg_contents"))
            #expect(contents["data_type"] == "tiles" && contents["srs_id"] == 3857)
            #expect(contents["identifier"] == "Hills & <Seas>" && contents["description"] == "© Demo")
            #expect(contents["last_change"] == "1970-01-01T00:00:00.000Z")
            let set = try #require(try Row.fetchOne(database, sql: "SELECT * FROM gpkg_tile_matrix_set"))
            #expect(set["max_x"] == 20_037_508.342_789_244 && set["min_y"] == -20_037_508.342_789_244)
            // Requirement 45: the pixels of the matrix are the extent, exactly.
            let matrices = try Row.fetchAll(database, sql: "SELECT * FROM gpkg_tile_matrix ORDER BY zoom_level")
            #expect(matrices.map { $0["zoom_level"] as Int } == Array(0...5))
            for row in matrices {
                let width =
                    (row["matrix_width"] as Double) * (row["tile_width"] as Double) * (row["pixel_x_size"] as Double)
                #expect(width == (set["max_x"] as Double) - (set["min_x"] as Double))
                #expect(row["matrix_width"] as Int == 1 << (row["zoom_level"] as Int) && row["tile_height"] == 256)
            }
            // The west edge of column 0, the south edge of the southernmost tile.
            #expect(contents["min_x"] == -20_037_508.342_789_244 && contents["min_y"] == -20_037_508.342_789_244)
            let table = contents["table_name"] as String
            var count: UInt64 = 0
            for row in try Row.fetchAll(database, sql: "SELECT * FROM \(table) ORDER BY id") {
                let tile = try #require(TileID(zoom: row["zoom_level"], x: row["tile_column"], y: row["tile_row"]))
                #expect(try archive.find(tile).body?.bytes == [UInt8](row["tile_data"] as Data), "\(tile)")
                count += 1
            }
            #expect(count == receipt.tiles)
            #expect(try one(Int.self, "SELECT count(*) FROM gpkg_extensions WHERE extension_name = 'gpkg_webp'") == 0)
        }
    }

    /// PNG, JPEG and WebP may mix; WebP is an extension that the file names.
    @Test func webPIsRegistered() throws {
        var random = SplitMix(state: 1)
        let file = scratch.file("mixed.mbtiles")
        try foreignFile(
            file, [["name", "x"], ["format", "png"]],
            [(1, 0, 0, NoisePicture.png(&random)), (1, 1, 0, NoisePicture.webp())])
        let (url, receipt) = try export(file)
        #expect(receipt.tiles == 2 && receipt.remarks.otherPictures == 1)
        try DatabaseQueue(path: url.path).read { (database: Database) throws in
            let row = try #require(
                try Row.fetchOne(database, sql: "SELECT * FROM gpkg_extensions WHERE extension_name = 'gpkg_webp'"))
            #expect(row["scope"] == "read-write" && row["column_name"] == "tile_data")
        }
        #expect(try PackageVerify.run(url).isVerified)
    }

    @Test func whatItCannotHoldIsRefusedByName() throws {
        func refusal(_ source: URL) throws -> PackagesError? {
            let error = #expect(throws: PackagesError.self) { try export(source) }
            #expect(!FileManager.default.fileExists(atPath: scratch.file("out.gpkg").path))
            return error
        }
        let vector = scratch.file("vector.mbtiles")
        try foreignFile(vector, [["name", "x"], ["format", "pbf"]], [(0, 0, 0, vectorTile("one"))])
        let words = try refusal(vector)
        #expect(words?.code == .unsupported && words?.message.contains("pbf") == true, "\(words?.message ?? "")")
        #expect(words?.message.contains("mbtiles or pmtiles") == true)
        var random = SplitMix(state: 1)
        let sizes = scratch.file("sizes.mbtiles")
        try foreignFile(
            sizes, [["name", "x"], ["format", "png"]],
            [(1, 0, 0, NoisePicture.png(&random)), (1, 1, 0, NoisePicture.png(&random, 512))])
        let size = try refusal(sizes)
        #expect(size?.code == .unsupported && size?.message.contains("1/1/1") == true, "\(size?.message ?? "")")
        #expect(size?.message.contains("512 x 512") == true)
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
        #expect(names.allSatisfy { !$0.hasPrefix(".") }, "\(names)")
    }

    /// Each zoom has the size of its own pictures.
    @Test func picturesOf512PixelsHaveTheirOwnGrid() throws {
        let other = try Scratch()
        let (url, _) = try export(try NoisePicture.package(other, side: { $0 < 3 ? 256 : 512 }))
        try DatabaseQueue(path: url.path).read { (database: Database) throws in
            let sides = try Int.fetchAll(database, sql: "SELECT tile_width FROM gpkg_tile_matrix ORDER BY zoom_level")
            #expect(sides == [256, 256, 256, 512, 512, 512])
        }
        #expect(try PackageVerify.run(url).isVerified)
    }

    @Test func everyCutAndEveryChangedBitIsFound() throws {
        let (url, _) = try export(package)
        let damaged = scratch.file("damaged.gpkg")
        let unseen = try FileDamage.unseen(url, scratch: damaged, seed: 12) { try PackageVerify.run($0).isVerified }
        #expect(unseen == [])
        // A value of another type ends nothing.
        try? FileManager.default.removeItem(at: damaged)
        try FileManager.default.copyItem(at: url, to: damaged)
        try DatabaseQueue(path: damaged.path).write {
            try $0.execute(sql: "UPDATE gpkg_tile_matrix SET matrix_width = 'wide'")
        }
        #expect(try PackageVerify.run(damaged).problems.contains { $0.code == "bad-geopackage" })
        // A program that changes it is noticed, also when it removes the seal.
        for sql in ["DELETE FROM packhorse_metadata WHERE rowid = 1", "DELETE FROM map_tiles WHERE zoom_level = 5"] {
            try? FileManager.default.removeItem(at: damaged)
            try FileManager.default.copyItem(at: url, to: damaged)
            try DatabaseQueue(path: damaged.path).write { try $0.execute(sql: sql) }
            #expect(try PackageVerify.run(damaged).seal == .broken)
        }
    }
}
