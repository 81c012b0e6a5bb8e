import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing
import TileBodies
import Tiles

@testable import OfflineMaps

/// Files of other programs that are damaged, before and after they were taken into a store.
@Suite(.timeLimit(.minutes(15)))
struct DamagedFileTests {
    private let site: StoreSite
    private let home: URL

    init() throws {
        site = try StoreSite()
        home = site.scratch.url.appending(path: "device")
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    }

    /// 256 tiles of zoom 4, each with a body of its own of some 3 KB.
    private func file(_ name: String, _ sql: String = "") throws -> URL {
        let file = home.appending(path: name)
        let queue = try DatabaseQueue(path: file.path)
        var random = SplitMix(state: 7)
        try queue.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE metadata (name TEXT, value TEXT);
                    INSERT INTO metadata VALUES ('name', 'x'), ('format', 'pbf'), ('json', '{"vector_layers":[]}');
                    CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB);
                    CREATE UNIQUE INDEX places ON tiles (zoom_level, tile_column, tile_row);
                    """)
            for number in 0..<256 {
                let name = (0..<3_000).map { _ in UInt8(97 + random.next() % 26) }
                // A layer with this name.
                let layer =
                    [0x0A, UInt8(name.count & 127 | 128), UInt8(name.count >> 7)] + name + [0x78, 0x02, 0x28, 0x40]
                let tile = [0x1A, UInt8(layer.count & 127 | 128), UInt8(layer.count >> 7)] + layer
                try database.execute(
                    sql: "INSERT INTO tiles VALUES (4, ?, ?, ?)",
                    arguments: [number / 16, number % 16, Data(Gzip.compress(tile))])
            }
            try database.execute(sql: sql)
        }
        try queue.close()
        return file
    }

    /// Overwrites whole pages in the middle, as a bad card does.
    private func damage(_ file: URL) throws {
        var bytes = [UInt8](try Data(contentsOf: file))
        let middle = bytes.count / 2 / 4_096 * 4_096
        for index in middle..<middle + 40_960 { bytes[index] = 0xAA }
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: Data(bytes))
        try handle.close()
    }

    private func store() async throws -> MapStore { try await site.store { $0.catalog = nil } }

    @Test(arguments: [Adoption.copy, .move, .link]) func aDamagedFileIsRefused(_ way: Adoption) async throws {
        let store = try await store()
        let file = try file("bad.mbtiles")
        try damage(file)
        let error = await #expect(throws: StoreError.self) { try await store.adopt(file, by: way) }
        #expect(error?.code == .badFile && error?.message.contains("is damaged") == true, "\(error as Any)")
        #expect(try await store.installed().isEmpty && FileManager.default.fileExists(atPath: file.path))
    }

    @Test func whatIsPassedOverIsSaid() async throws {
        let store = try await store()
        let file = try file(
            "some.mbtiles", "INSERT INTO tiles VALUES (4, 99, 0, x'00'), (5, 0, 0, NULL), (5, 1, 1, x'00')")
        let said = Mutex<[String]>([])
        try await store.adopt(file) { text in said.withLock { $0.append(text) } }
        let remarks = said.withLock { $0 }
        #expect(remarks.count == 1 && remarks.first?.contains("cannot be used are passed over: 3") == true)
        #expect(try await store.verify(deep: true).isEmpty)
    }

    /// A web page and a broken body are no tiles for a map either; another row of the same place can be one.
    @Test(arguments: [Adoption.copy, .link]) func whatIsPassedOverIsNotServed(_ way: Adoption) async throws {
        let store = try await store()
        let file = try file(
            "some.mbtiles",
            """
            INSERT INTO tiles VALUES (5, 0, 0, CAST('<html>Not here</html>' AS BLOB)), (5, 1, 1, x'89504e470d0a1a0a00'),
            (5, 2, 2, NULL), (3, 0, 0, x'00');
            DROP INDEX places; CREATE INDEX places ON tiles (zoom_level, tile_column, tile_row);
            INSERT INTO tiles VALUES (4, 0, 0, x'00'); INSERT INTO tiles SELECT 5, 3, 3, x'00';
            INSERT INTO tiles SELECT 5, 3, 3, tile_data FROM tiles WHERE zoom_level = 4 AND tile_column = 1 AND tile_row = 1;
            """)
        try await store.adopt(file, by: way)
        func answer(_ zoom: Int, _ column: Int, _ row: Int) throws -> TileAnswer {
            try store.tiles.tile(try #require(TileID(zoom: zoom, x: column, tmsY: row)))
        }
        // The tile of zoom 3 has whole ones below it.
        for (zoom, place) in [(5, 0), (5, 1), (5, 2), (3, 0)] {
            guard case .absent = try answer(zoom, place, place) else {
                Issue.record("\(zoom)/\(place) is served")
                continue
            }
        }
        for (zoom, place) in [(4, 0), (5, 3)] {
            guard case .found(let tile) = try answer(zoom, place, place) else {
                Issue.record("the whole body of \(zoom)/\(place) is not served")
                continue
            }
            #expect(tile.body.count > 1_000)
        }
    }

    /// The stamp of a file that stays where it is does not change with its bytes on a bad disk.
    @Test func deepVerificationFindsDamageAndReadsAnswerTheSame() async throws {
        let store = try await store()
        let file = try file("link.mbtiles")
        try await store.adopt(file, by: .link)
        var status = stat()
        #expect(stat(file.path, &status) == 0)
        #expect(try await store.verify(deep: true).isEmpty)
        try damage(file)
        let times = [status.st_atim, status.st_mtim]
        #expect(utimensat(AT_FDCWD, file.path, times, 0) == 0)
        let findings = try await store.verify(deep: true)
        #expect(findings.count == 1 && findings[0].problem.hasPrefix("The file is damaged"), "\(findings)")
        #expect(try await store.verify(deep: false).isEmpty)
        // Each tile gives the same answer every time; those of other pages are read.
        var answers: [[String]] = []
        for _ in 0..<3 {
            var round: [String] = []
            for column in 0..<16 {
                for row in 0..<16 {
                    let tile = try #require(TileID(zoom: 4, x: column, y: row))
                    do throws(StoreError) {
                        if case .found = try store.tiles.tile(tile) {
                            round.append("found")
                        } else {
                            round.append("none")
                        }
                    } catch { round.append(error.code.name) }
                }
            }
            answers.append(round)
            // What a reader reports is handled by then.
            _ = try await store.installed()
        }
        #expect(answers[0] == answers[1] && answers[1] == answers[2])
        #expect(answers[0].contains("damaged") && answers[0].contains("found") && !answers[0].contains("none"))
        #expect(try await store.installed().count == 1)
    }
}
