import Digests
import Errors
import Files
import Foundation
import GRDB
import PMTiles
import PackageFiles
import Packages
import Testing
import TileBodies
import Tiles

struct PackageExportTests {
    @Test(arguments: PackageFormat.fromTiles)
    func everyFormHoldsTheSameTilesAndTheSameBytesEachTime(format: PackageFormat) throws {
        let merged = try Merged()
        let (url, receipt) = try merged.export(format)
        let content = try bytes(url)
        #expect(receipt.digest == Digest(of: content) && receipt.size == UInt64(content.count))
        #expect(receipt.tiles == merged.receipt.tiles && receipt.format == format)
        let report = try PackageVerify.run(
            url, mask: merged.world.mask, zooms: merged.world.zooms, expecting: receipt.digest)
        #expect(report.isVerified && report.seal == .valid, "\(report.problems)")
        #expect(report.tilesHash == merged.receipt.tilesHash && report.tiles == merged.receipt.tiles)
        #expect(report.absent == merged.receipt.empty)
        #expect(try merged.export(format, name: "again").receipt == receipt)
        // No scratch file stays.
        #expect(
            try merged.names()
                == [
                    "again\(format.fileExtension)", "demo.mbtiles", "out\(format.fileExtension)",
                ].sorted())
    }

    /// Every form leads back to the package, byte for byte, and from there to every other.
    @Test(arguments: [PackageFormat.mbtiles, .mbtilesFlat, .mbtilesNormalized, .pmtiles])
    func theWayBackGivesThePackage(format: PackageFormat) throws {
        let merged = try Merged()
        let (url, _) = try merged.export(format)
        let (back, receipt) = try merged.export(.mbtiles, from: url, name: "back")
        #expect(receipt.digest == merged.receipt.digest)
        #expect(try bytes(back) == bytes(merged.url))
    }

    @Test func pmtilesAnswersForEveryTile() throws {
        let merged = try Merged()
        let file = try PMTilesFile(path: try merged.export(.pmtiles).url.path)
        for sample in merged.world.samples { #expect(try file.body(of: sample.tile) == sample.body, "\(sample.tile)") }
        let header = file.header
        #expect(header.isClustered && header.leaves.length == 0 && header.tiles.offset == PMTilesHeader.rootEnd)
        #expect(header.addressedTiles == merged.receipt.tiles && header.tileContents == merged.receipt.distinct)
        #expect(header.bounds == [-11.25, 33.5, 22.5, 58.75] && header.minZoom == 0 && header.maxZoom == 8)
        #expect(header.center == [56_250_000, 461_250_000] && header.metadata.end <= PMTilesHeader.rootEnd)
        let metadata = String(decoding: try file.metadata(), as: UTF8.self)
        #expect(metadata.contains(#""vector_layers":[{"fields":{"name":"String"},"id":"land"}]"#))
        #expect(metadata.contains(#""attribution":"© Demo""#) && metadata.contains(#""packhorse_seal":"trailer""#))
    }

    @Test func normalizedBodiesAreNamedByTheirMD5() throws {
        let merged = try Merged()
        let (url, _) = try merged.export(.mbtilesNormalized)
        try DatabaseQueue(path: url.path).read { database in
            // MD5 of the gzip of the ocean tile as the md5sum program gives it is not known here, so SQLite's order must do:
            // as many images as bodies, and as many names of 32 digits.
            #expect(
                try Int.fetchOne(database, sql: "SELECT count(*) FROM images") == Int(merged.receipt.distinct))
            #expect(
                try Int.fetchOne(
                    database,
                    sql: "SELECT count(*) FROM images WHERE tile_id NOT GLOB '*[^0-9A-F]*' AND length(tile_id) = 32")
                    == Int(merged.receipt.distinct))
            let plan = try Row.fetchAll(
                database,
                sql:
                    "EXPLAIN QUERY PLAN SELECT tile_data FROM tiles WHERE zoom_level = 1 AND tile_column = 1 AND tile_row = 1"
            ).map { $0["detail"] as String }
            #expect(plan.count == 2 && plan.allSatisfy { $0.hasPrefix("SEARCH") }, "\(plan)")
            #expect(
                try Int.fetchOne(database, sql: "SELECT count(*) FROM tiles_with_hash WHERE length(tile_hash) = 32")
                    == Int(merged.receipt.tiles))
        }
    }

    @Test func theFormForCARTOIsWhatItsClientReads() throws {
        let merged = try Merged()
        let (url, _) = try merged.export(.carto)
        try DatabaseQueue(path: url.path).read { (database: Database) throws in
            #expect(
                try String.fetchOne(database, sql: "SELECT value FROM metadata WHERE name = 'format'") == "mbvt")
            #expect(
                try Bool.fetchOne(database, sql: "SELECT count(*) = 0 FROM metadata WHERE name = 'nutikeysha1'") == true
            )
            #expect(
                try String.fetchAll(database, sql: "SELECT type FROM sqlite_schema WHERE name = 'tiles'") == ["table"])
            #expect(
                try Int.fetchOne(
                    database, sql: "SELECT count(*) FROM pragma_index_list('tiles') WHERE \"unique\"") == 1)
            // 1F 8B: every body is gzip.
            #expect(
                try Int.fetchOne(database, sql: "SELECT count(*) FROM tiles WHERE substr(tile_data, 1, 2) <> x'1f8b'")
                    == 0)
        }
    }

    @Test func refusalsLeaveNothingBehind() throws {
        let merged = try Merged()
        func code(_ body: () throws -> Void) -> PackagesError.Code? {
            #expect(throws: PackagesError.self) { try body() }?.code
        }
        let target = merged.scratch.file("t.pmtiles")
        #expect(code { _ = try merged.export(.maplibre) } == .unsupported)
        #expect(
            code { _ = try PackageExport.write(from: merged.scratch.file("no"), format: .pmtiles, to: target) } == .io)
        let text = merged.scratch.file("text")
        try Data("hello".utf8).write(to: text)
        #expect(code { _ = try PackageExport.write(from: text, format: .pmtiles, to: target) } == .badSource)
        var content = try bytes(merged.url)
        content[content.count - 5_000] ^= 1
        let broken = merged.scratch.file("broken.mbtiles")
        try Data(content).write(to: broken)
        #expect(code { _ = try PackageExport.write(from: broken, format: .pmtiles, to: target) } == .badSource)
        for format in PackageFormat.fromTiles {
            #expect(throws: CancellationError.self) {
                try PackageExport.write(from: merged.url, format: format, to: target) {
                    if $0 > 0 { throw CancellationError() }
                }
            }
        }
        #expect(try merged.names() == ["broken.mbtiles", "demo.mbtiles", "text"])
        try Data("old".utf8).write(to: target)
        #expect(code { _ = try PackageExport.write(from: merged.url, format: .pmtiles, to: target) } == .exists)
        #expect(try bytes(target) == Array("old".utf8))
        let receipt = try PackageExport.write(from: merged.url, format: .pmtiles, to: target, replacing: true)
        #expect(try Digest.ofFile(target).digest == receipt.digest)
    }

    @Test func aPackageWithoutTilesHasNoPMTiles() throws {
        let scratch = try Scratch()
        let empty = scratch.file("empty.mbtiles")
        _ = try BulkPackage.write(empty) { package in
            package.add(metadata: [
                ("agg_tiles_hash", "D41D8CD98F00B204E9800998ECF8427E"), ("format", "png"), ("name", "x"),
            ])
        }
        let error = #expect(throws: PackagesError.self) {
            try PackageExport.write(from: empty, format: .pmtiles, to: scratch.file("e.pmtiles"))
        }
        #expect(error?.code == .unsupported)
        let receipt = try PackageExport.write(from: empty, format: .mbtilesFlat, to: scratch.file("e.flat.mbtiles"))
        #expect(receipt.tiles == 0)
        // A file of another program without a tile is no package at all.
        let foreign = scratch.file("foreign.mbtiles")
        try foreignFile(foreign, [["name", "x"], ["format", "png"]], [])
        for format in PackageFormat.fromTiles {
            let error = #expect(throws: PackagesError.self) {
                try PackageExport.write(from: foreign, format: format, to: scratch.file("f" + format.fileExtension))
            }
            #expect(error?.code == .badSource)
        }
    }
}
