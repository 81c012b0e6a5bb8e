import Foundation
import GRDB
import PackageFiles
import Packages
import Testing
import TileBodies

@testable import OfflineDatabase

/// An app's own database taking over ours, by the client's rules (docs/formats/maplibre-offline.md, "Merging").
@Suite(.timeLimit(.minutes(15)))
struct MergeTests {
    /// What the client does with a side file: new regions, newer rows that a region refers to, and their places in the region.
    private func merge(_ side: URL, into main: URL) throws {
        let queue = try DatabaseQueue(path: main.path)
        try queue.writeWithoutTransaction { (database) throws in
            try database.execute(sql: "ATTACH DATABASE ? AS side", arguments: [side.path])
            let versions = try ["main", "side"].map { try Int.fetchOne(database, sql: "PRAGMA \($0).user_version") }
            #expect(versions == [6, 6], "Merge database has incorrect user_version")
            try database.inTransaction {
                try database.execute(
                    sql: """
                        INSERT INTO main.regions (definition, description)
                        SELECT definition, description FROM side.regions EXCEPT SELECT definition, description FROM main.regions;
                        CREATE TEMP TABLE same_region AS SELECT s.id AS theirs, m.id AS ours FROM side.regions s
                          JOIN main.regions m ON m.definition = s.definition AND m.description IS s.description;

                        REPLACE INTO main.tiles SELECT m.id, s.url_template, s.pixel_ratio, s.z, s.x, s.y, s.expires, s.modified,
                            s.etag, s.data, s.compressed, s.accessed, s.must_revalidate
                          FROM side.tiles s LEFT JOIN main.tiles m USING (url_template, pixel_ratio, z, x, y)
                          WHERE s.id IN (SELECT tile_id FROM side.region_tiles) AND (m.id IS NULL OR s.modified > m.modified);
                        INSERT OR IGNORE INTO main.region_tiles SELECT r.ours, m.id FROM side.region_tiles p
                          JOIN same_region r ON r.theirs = p.region_id JOIN side.tiles s ON s.id = p.tile_id
                          JOIN main.tiles m USING (url_template, pixel_ratio, z, x, y);

                        REPLACE INTO main.resources SELECT m.id, s.url, s.kind, s.expires, s.modified, s.etag, s.data,
                            s.compressed, s.accessed, s.must_revalidate
                          FROM side.resources s LEFT JOIN main.resources m USING (url)
                          WHERE s.id IN (SELECT resource_id FROM side.region_resources)
                            AND (m.id IS NULL OR s.modified > m.modified);
                        INSERT OR IGNORE INTO main.region_resources SELECT r.ours, m.id FROM side.region_resources p
                          JOIN same_region r ON r.theirs = p.region_id JOIN side.resources s ON s.id = p.resource_id
                          JOIN main.resources m USING (url);
                        DROP TABLE same_region;
                        """)
                return .commit
            }
            try database.execute(sql: "DETACH DATABASE side")
        }
        try queue.close()
    }

    private func emptyClient(_ url: URL) throws {
        let queue = try DatabaseQueue(path: url.path)
        try queue.writeWithoutTransaction { (database) throws in
            try database.execute(sql: "PRAGMA auto_vacuum = 2; VACUUM")
            for statement in OfflineSchema.statements.dropFirst() { try database.execute(sql: statement) }
            try database.execute(sql: "PRAGMA user_version = 6")
        }
        try queue.close()
    }

    private func count(_ url: URL, _ sql: String) throws -> Int? { try query(url) { try Int.fetchOne($0, sql: sql) } }

    @Test func anAppTakesItOverAndIsDone() async throws {
        let fixture = try await Fixture()
        let (side, receipt) = try fixture.export([try fixture.package("a.mbtiles", Fixture.square)])
        let main = fixture.scratch.url("client.db")
        try emptyClient(main)
        try merge(side, into: main)
        let report = try OfflineDatabaseVerify.run(main)
        #expect(report.isVerified && report.tiles == receipt.tiles, "\(report.problems)")
        // The same once more changes nothing.
        try merge(side, into: main)
        #expect(try count(main, "SELECT count(*) FROM regions") == 1)
        #expect(try OfflineDatabaseVerify.run(main).tiles == receipt.tiles)
    }

    /// A newer date replaces rows in place, an equal one does not, and the region stays one.
    @Test func aLaterVersionReplacesTheRows() async throws {
        let fixture = try await Fixture()
        let main = fixture.scratch.url("client.db")
        try emptyClient(main)
        let date = Int64(1_700_000_000)
        for (number, modified) in [date, date, date + 1].enumerated() {
            let package = try fixture.package("\(number).mbtiles", Fixture.square) { _ in
                Gzip.compress(vectorTile("version \(number)"))
            }
            let (side, _) = try fixture.export([package], to: "\(number).db") { $0.modified = modified }
            try merge(side, into: main)
            #expect(try count(main, "SELECT count(*) FROM regions") == 1)
            let bodies = try query(main) {
                try Row.fetchAll($0, sql: "SELECT DISTINCT data, compressed FROM tiles")
            }
            #expect(bodies.count == 1)
            let row = try #require(bodies.first)
            let data = [UInt8](row[0] as Data)
            #expect(
                (row[1] == 1 ? try Zlib.decompress(data) : data) == vectorTile("version \(number == 1 ? 0 : number)"))
        }
        #expect(try OfflineDatabaseVerify.run(main).isVerified)
    }
}
