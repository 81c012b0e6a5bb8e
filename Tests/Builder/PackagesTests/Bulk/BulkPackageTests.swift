import Digests
import Files
import Foundation
import GRDB
import Testing

@testable import PackageFiles
@testable import Packages

/// Files written page by page, read by SQLite.
struct BulkPackageTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    /// Body sizes on both sides of every border: what stays in a leaf, what fills a page of a chain, empty ones.
    @Test(arguments: [1_024, 4_096]) func everySizeOfABodyComesBack(pageSize: Int) throws {
        let borders = [
            0, 39, 103, 489, pageSize - 39, pageSize - 35, pageSize - 4, pageSize, 2 * pageSize, 5 * pageSize,
        ]
        let sizes = borders.flatMap { border in (-6...6).map { border + $0 } }.filter { $0 > 0 }
        let url = scratch.file("a.mbtiles")
        try write(url, pageSize: pageSize, bodies: sizes.map { body($0) })
        let found = try read(url)
        #expect(found.integrity == ["ok"])
        #expect(found.bodies == sizes.map { body($0) })
        #expect(found.tiles.map { $0[3] } == (0..<sizes.count).map { Int64($0 + 1) })
    }

    /// Tables of one row, of one leaf, and of trees up to three levels, all of which SQLite walks and searches.
    @Test(arguments: [0, 1, 2, 30, 31, 32, 2_000, 70_000]) func everyNumberOfRowsIsATree(count: Int) throws {
        let url = scratch.file("a.mbtiles")
        try write(url, pageSize: 1_024, bodies: (0..<count).map { body(1 + $0 % 40) })
        let found = try read(url)
        #expect(found.integrity == ["ok"])
        #expect(found.bodies.count == count && found.tiles.count == count)
        #expect(found.tiles == (0..<count).map { place($0) + [Int64($0 + 1)] })
        let queue = try DatabaseQueue(path: url.path)
        for number in stride(from: 0, to: count, by: max(1, count / 97)) {
            let place = place(number)
            let body = try queue.read {
                try Data.fetchOne(
                    $0, sql: "SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?",
                    arguments: [place[0], place[1], place[2]])
            }
            #expect(body == Data(self.body(1 + number % 40)))
        }
    }

    /// Each count of index rows near the borders of its leaves: the last leaf is never empty.
    @Test func noLeafIsEmpty() throws {
        for count in 60..<180 {
            let url = scratch.file("\(count).mbtiles")
            try write(url, pageSize: 1_024, bodies: [], tiles: count)
            let found = try read(url)
            #expect(found.integrity == ["ok"] && found.tiles.count == count, "\(count) rows")
        }
    }

    @Test func longNamesAndValuesOfMetadataAreKept() throws {
        let url = scratch.file("a.mbtiles")
        let rows = (0..<40).map {
            (name: "\($0)" + String(repeating: "n", count: $0 * 50), value: String(repeating: "é", count: $0 * 333))
        }
        try write(url, pageSize: 1_024, bodies: [body(5)], metadata: rows)
        let queue = try DatabaseQueue(path: url.path)
        try queue.read { database in
            #expect(try String.fetchAll(database, sql: "PRAGMA integrity_check") == ["ok"])
            for row in rows {
                let found = try String.fetchOne(
                    database, sql: "SELECT value FROM metadata WHERE name = ?", arguments: [row.name])
                #expect(found == row.value)
            }
        }
        #expect(throws: PackagesError.self) {
            try write(scratch.file("b.mbtiles"), bodies: [], metadata: [("a", "1"), ("a", "2")])
        }
    }

    /// The page of the byte at 2^30, here at 64 KiB, stays empty.
    ///
    /// For SQLite it is a page like any other here: one that nothing uses, which it
    /// mentions or not, depending on whether it came upon the view first (3.40.1).
    @Test func theLockedPageIsLeftOut() throws {
        let url = scratch.file("a.mbtiles")
        try write(url, bodies: (0..<9).map { body(9_000 + $0) }, lockByte: 1 << 16)
        let found = try read(url)
        #expect(found.integrity.allSatisfy { $0 == "ok" || $0.contains("age 17") && $0.contains("never used") })
        let used = try DatabaseQueue(path: url.path).read {
            try Set(Int.fetchAll($0, sql: "SELECT pageno FROM dbstat"))
        }
        let pages = try bytes(url).count / 4_096
        #expect(used == Set(1...pages).subtracting([17]))
        #expect(found.bodies == (0..<9).map { body(9_000 + $0) })
        let page = try bytes(url)[65_536..<69_632]
        #expect(page.allSatisfy { $0 == 0 })
    }

    @Test func theDigestIsTheFilesAndTheSealHolds() throws {
        let url = scratch.file("a.mbtiles")
        let digest = try write(url, bodies: (0..<300).map { body($0 * 37) })
        #expect(try Digest.ofFile(url).digest == digest)
        var report = VerifyReport(path: url.path, size: 0, kind: "MBTiles")
        try DatabaseQueue(path: url.path).read {
            try SQLiteSeal.check(url, table: "metadata", in: $0, into: &report)
        }
        #expect(report.seal == .valid)
        let again = scratch.file("b.mbtiles")
        #expect(try write(again, bodies: (0..<300).map { body($0 * 37) }) == digest)
    }

    /// The short way of four integers writes what the general one writes, on both sides of every border.
    @Test func fourIntegersAreTheSameRecord() {
        let borders: [Int64] = [0, 1, 2, 127, 32_767, 8_388_607, 2_147_483_647, 140_737_488_355_327, .max - 2]
        let values = borders.flatMap { [$0 - 1, $0, $0 + 1, -$0 - 1, -$0] }
        for (number, value) in values.enumerated() {
            let row = (value, values[(number + 7) % values.count], Int64(number), values[(number + 11) % values.count])
            let general = SQLiteRecord.encode([.integer(row.0), .integer(row.1), .integer(row.2), .integer(row.3)])
            #expect(SQLiteRecord.encode(row) == general)
        }
    }

    @Test func rowsOutOfOrderAreRefused() throws {
        #expect(throws: PackagesError.self) {
            try BulkPackage.write(scratch.file("a.mbtiles")) { package in
                try package.add(body: [1], number: 2)
                try package.add(body: [1], number: 1)
            }
        }
    }

    // MARK: - Helpers

    private func body(_ size: Int) -> [UInt8] { (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ size) } }

    /// Ascending places whose numbers take from no byte to four.
    private func place(_ number: Int) -> [Int64] { [22, Int64(number / 300) * 17_000, Int64(number % 300) * 13_000] }

    @discardableResult
    private func write(
        _ url: URL, pageSize: Int = 4_096, bodies: [[UInt8]], tiles: Int? = nil,
        metadata: [(name: String, value: String)] = [], lockByte: Int = 1 << 30
    ) throws -> Digest {
        try BulkPackage.write(url, pageSize: pageSize, lockByte: lockByte) { package in
            for (number, body) in bodies.enumerated() { try package.add(body: body, number: UInt32(number + 1)) }
            for number in 0..<(tiles ?? bodies.count) {
                let place = place(number).map { Int($0) }
                try package.add(zoom: place[0], column: place[1], row: place[2], number: UInt32(number + 1))
            }
            package.add(metadata: metadata)
        }.1
    }

    private func read(_ url: URL) throws -> (integrity: [String], bodies: [[UInt8]], tiles: [[Int64]]) {
        try DatabaseQueue(path: url.path).read { database in
            let tiles = try Row.fetchAll(
                database,
                sql: "SELECT zoom_level, tile_column, tile_row, tile_data_id FROM tiles_shallow ORDER BY 1, 2, 3")
            return (
                try String.fetchAll(database, sql: "PRAGMA integrity_check"),
                try Data.fetchAll(database, sql: "SELECT tile_data FROM tiles_data ORDER BY tile_data_id").map {
                    [UInt8]($0)
                }, tiles.map { row in (0..<4).map { row[$0] } }
            )
        }
    }
}
