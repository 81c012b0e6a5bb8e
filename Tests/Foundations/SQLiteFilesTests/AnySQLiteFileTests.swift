import Foundation
import GRDB
import SQLiteFiles
import Testing

struct AnySQLiteFileTests {
    /// What opening and reading a file ends with.
    private func fault(_ url: URL, _ table: String = "numbers") -> (fault: SQLiteFault, explanation: String?)? {
        do {
            let queue = try AnySQLiteFile.open(url)
            _ = try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM \(table)") }
            try queue.close()
            return nil
        } catch {
            return (SQLiteFault(error), SQLiteFault.explanation(error, path: url.path))
        }
    }

    @Test func aFileIsOpenedForReadingOnly() throws {
        let scratch = try Scratch()
        let queue = try AnySQLiteFile.open(try scratch.database("a.sqlite"))
        #expect(try count(queue) == 3)
        let error = #expect(throws: DatabaseError.self) {
            try queue.writeWithoutTransaction { try $0.execute(sql: "DELETE FROM numbers") }
        }
        #expect(error?.resultCode == .SQLITE_READONLY)
    }

    @Test func theProtectionsAreOn() throws {
        let scratch = try Scratch()
        let queue = try AnySQLiteFile.open(try scratch.database("a.sqlite"))
        let expected = ["trusted_schema": 0, "cell_size_check": 1, "mmap_size": 0, "cache_size": -4_096]
        for (name, value) in expected {
            // `mmap_size` has no row when memory mapping was not compiled in.
            let found = try queue.read { try Int.fetchOne($0, sql: "PRAGMA \(name)") } ?? 0
            #expect(found == value, "\(name)")
        }
    }

    @Test func aMissingFileIsNotMade() throws {
        let scratch = try Scratch()
        let found = try #require(fault(scratch.file("absent.sqlite")))
        #expect(found.fault == .unreadable && found.explanation?.contains("absent.sqlite' cannot be read") == true)
        #expect(try scratch.names().isEmpty)
    }

    @Test func aFolderIsUnreadable() throws {
        let scratch = try Scratch()
        #expect(fault(scratch.folder)?.fault == .unreadable)
    }

    @Test(.enabled(if: geteuid() != 0, "root may read every file"))
    func aFileWithoutPermissionIsUnreadable() throws {
        let scratch = try Scratch()
        let url = try scratch.database("a.sqlite")
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: url.path)
        #expect(fault(url)?.fault == .unreadable)
    }

    @Test func anotherKindOfFileIsDamaged() throws {
        let scratch = try Scratch()
        let url = scratch.file("a.sqlite")
        for text in ["{}", "PK\u{3}\u{4}", String(repeating: "no database ", count: 1_000)] {
            try Data(text.utf8).write(to: url)
            let found = try #require(fault(url), "\(text.prefix(20))")
            #expect(found.fault == .damaged && found.explanation == nil)
        }
    }

    @Test func anEmptyFileIsADatabaseWithoutTables() throws {
        let scratch = try Scratch()
        let url = scratch.file("a.sqlite")
        try Data().write(to: url)
        #expect(fault(url, "sqlite_schema") == nil)
        #expect(fault(url)?.fault == .damaged, "it lacks the table")
    }

    @Test func aTruncatedFileIsDamaged() throws {
        let scratch = try Scratch()
        let url = try scratch.database("a.sqlite", rows: 2_000)
        let bytes = try Data(contentsOf: url)
        #expect(fault(url) == nil)
        for length in [bytes.count - 4_096, bytes.count / 2, 5_000, 4_096, 300, 100, 99, 17] {
            try bytes.prefix(length).write(to: url)
            #expect(fault(url)?.fault == .damaged, "the first \(length) bytes")
        }
    }

    @Test func overwrittenPagesAreDamagedOrReadAndNeverTrap() throws {
        let scratch = try Scratch()
        let url = try scratch.database("a.sqlite", rows: 500)
        let bytes = try Data(contentsOf: url)
        var damaged = 0
        for page in 0..<bytes.count / 4_096 {
            for value in [0x00, 0xFF, 0x0D] as [UInt8] {
                var changed = bytes
                // The first page keeps the file's header.
                let start = page * 4_096 + (page == 0 ? 100 : 0)
                changed.replaceSubrange(
                    start..<(page + 1) * 4_096, with: Data(repeating: value, count: (page + 1) * 4_096 - start))
                try changed.write(to: url)
                guard let found = fault(url) else { continue }
                #expect(found.fault == .damaged, "page \(page): \(found)")
                damaged += 1
            }
        }
        #expect(damaged > bytes.count / 4_096, "\(damaged)")
    }

    @Test(arguments: [false, true])
    func aNameIsNoAddress(isWAL: Bool) throws {
        let scratch = try Scratch()
        for name in ["a?mode=memory&immutable=0", "100 %41#b.sqlite", "file:x", "ä ' \" ;.mbtiles"] {
            let queue = try AnySQLiteFile.open(try scratch.database(name, wal: isWAL))
            #expect(try count(queue) == 3, "\(name)")
            try queue.close()
        }
        #expect(try scratch.names().count == 4)
    }
}
