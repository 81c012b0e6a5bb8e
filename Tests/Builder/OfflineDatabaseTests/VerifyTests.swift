import Foundation
import GRDB
import PackageFiles
import Packages
import TestSupport
import Testing

@testable import OfflineDatabase

/// What the verification finds.
@Suite(.timeLimit(.minutes(15)))
struct VerifyTests {
    /// Twenty cuts and 200 changed bits, each of which the verification alone must find.
    @Test func everyCutAndEveryChangedBitIsFound() async throws {
        let fixture = try await Fixture()
        let (url, _) = try fixture.export([try fixture.package("a.mbtiles", Fixture.square)])
        let unseen = try FileDamage.unseen(url, scratch: fixture.scratch.url("damaged.maplibre.db"), seed: 5) {
            try OfflineDatabaseVerify.run($0).isVerified
        }
        #expect(unseen == [])
    }

    /// Each change breaks the seal too; what counts is that the fault itself is named, as it would be in a third-party
    /// file.
    @Test(arguments: [
        ("PRAGMA user_version = 7", "wrong-version"),
        ("DELETE FROM resources WHERE url LIKE '%/0-255.pbf'", "missing-resource"),
        ("DELETE FROM resources WHERE kind = 1", "missing-resource"),
        ("DELETE FROM resources WHERE url LIKE '%@2x.png'", "missing-resource"),
        ("UPDATE resources SET must_revalidate = 1 WHERE kind = 2", "must-revalidate"),
        ("UPDATE tiles SET modified = NULL WHERE z = 3", "bad-row"),
        ("UPDATE tiles SET compressed = 1 - compressed WHERE z = 6", "bad-"),
        ("UPDATE tiles SET data = x'0102' WHERE z = 6", "bad-"),
        ("DELETE FROM tiles WHERE z = 6 AND x = 33", "incomplete"),
        ("UPDATE tiles SET x = 64 WHERE z = 6 AND x = 33 AND y = 20", "bad-tile"),
        ("UPDATE tiles SET url_template = 'other'", "missing-tiles"),
        ("DELETE FROM regions", "no-region"), ("DELETE FROM region_tiles WHERE tile_id = 5", "in-no-region"),
        ("UPDATE regions SET definition = replace(definition, '6.0', '6')", "bad-region"),
        ("UPDATE regions SET description = CAST(description AS TEXT)", "bad-region"),
        ("UPDATE regions SET definition = replace(definition, 'false', 'true')", "missing-resource"),
        ("DROP INDEX tiles_accessed", "wrong-schema"),
        ("ALTER TABLE tiles ADD COLUMN encoding INTEGER", "wrong-schema"),
        ("DROP TABLE region_tiles", "wrong-schema"),
        ("UPDATE resources SET kind = 3 WHERE kind = 6", "bad-row"),
        ("UPDATE resources SET data = x'00', compressed = 0 WHERE kind = 5", "bad-image"),
    ])
    func everyFaultHasItsName(change: String, code: String) async throws {
        let fixture = try await Fixture()
        let (url, _) = try fixture.export([try fixture.package("a.mbtiles", Fixture.square)])
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: url.path, configuration: configuration)
        try await queue.write { try $0.execute(sql: change) }
        try queue.close()
        let report = try OfflineDatabaseVerify.run(url)
        #expect(report.problems.contains { $0.code.hasPrefix(code) }, "\(report.problems)")
        #expect(report.seal == .broken || change.hasPrefix("DROP TABLE") || change.hasPrefix("ALTER"))
    }

    @Test func otherFilesAreNoDatabases() throws {
        let scratch = try Scratch()
        for (name, bytes) in [
            ("a", Data()), ("b", Data("SQLite format 3\0".utf8)), ("c", Data(repeating: 7, count: 5_000)),
        ] {
            try bytes.write(to: scratch.url(name))
            #expect(try OfflineDatabaseVerify.run(scratch.url(name)).problems.map(\.code) == ["not-sqlite"])
        }
        let queue = try DatabaseQueue(path: scratch.url("d").path)
        try queue.write { try $0.execute(sql: "CREATE TABLE tiles (x)") }
        try queue.close()
        let codes = Set(try OfflineDatabaseVerify.run(scratch.url("d")).problems.map(\.code))
        #expect(codes.contains("wrong-schema") && codes.contains("wrong-version"))
    }
}
