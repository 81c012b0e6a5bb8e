import Foundation
import GRDB
import SQLiteFiles
import Testing

struct SQLiteFaultTests {
    private struct OtherError: Error {}

    @Test func everyCodeHasItsMeaning() {
        let busy: [ResultCode] = [.SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL, .SQLITE_BUSY_RECOVERY]
        let unreadable: [ResultCode] = [
            .SQLITE_IOERR, .SQLITE_IOERR_READ, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_READONLY,
            .SQLITE_READONLY_ROLLBACK, .SQLITE_NOMEM, .SQLITE_NOLFS, .SQLITE_INTERRUPT,
        ]
        let damaged: [ResultCode] = [
            .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_IOERR_SHORT_READ, .SQLITE_IOERR_CORRUPTFS,
            .SQLITE_MISMATCH, .SQLITE_TOOBIG,
        ]
        for (codes, fault) in [(busy, SQLiteFault.busy), (unreadable, .unreadable), (damaged, .damaged)] {
            for code in codes { #expect(SQLiteFault(DatabaseError(resultCode: code)) == fault, "\(code)") }
        }
        #expect(SQLiteFault(OtherError()) == .damaged)
    }

    @Test func whatIsNoDamageHasAnExplanationWithARemedy() throws {
        func text(_ code: ResultCode) -> String? {
            SQLiteFault.explanation(DatabaseError(resultCode: code, message: "said so"), path: "/a/b.mbtiles")
        }
        for code in [ResultCode.SQLITE_BUSY, .SQLITE_READONLY_ROLLBACK, .SQLITE_CANTOPEN] {
            let text = try #require(text(code))
            #expect(text.contains("'/a/b.mbtiles'") && text.contains("said so"), "\(text)")
        }
        #expect(text(.SQLITE_BUSY)?.contains("Try again") == true)
        #expect(text(.SQLITE_READONLY_ROLLBACK)?.contains("sqlite3 '/a/b.mbtiles' 'PRAGMA quick_check'") == true)
        #expect(text(.SQLITE_CANTOPEN)?.contains("Check its permissions") == true)
        #expect(text(.SQLITE_CORRUPT) == nil)
    }
}

struct SQLiteFileHeaderTests {
    private func header(_ change: (inout [UInt8]) -> Void = { _ in }) -> [UInt8] {
        var bytes = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 84)
        (bytes[16], bytes[17], bytes[18], bytes[19]) = (0x10, 0x00, 1, 1)
        change(&bytes)
        return bytes
    }

    @Test func theFieldsAreRead() throws {
        let found = try #require(
            SQLiteFileHeader(
                header {
                    $0.replaceSubrange(28..<32, with: [1, 2, 3, 4])
                    $0.replaceSubrange(36..<40, with: [0xFF, 0xFF, 0xFF, 0xFF])
                }))
        #expect(found.pageSize == 4_096 && found.pages == 0x0102_0304 && found.freePages == 0xFFFF_FFFF)
        #expect(!found.usesWAL)
    }

    @Test func pageSize1Means65536() {
        #expect(SQLiteFileHeader(header { ($0[16], $0[17]) = (0, 1) })?.pageSize == 65_536)
        #expect(SQLiteFileHeader(header { ($0[16], $0[17]) = (2, 0) })?.pageSize == 512)
    }

    @Test func eitherVersionByteMeansWAL() {
        #expect(SQLiteFileHeader(header { $0[18] = 2 })?.usesWAL == true)
        #expect(SQLiteFileHeader(header { $0[19] = 2 })?.usesWAL == true)
    }

    @Test func shortAndOtherBytesAreNoHeader() {
        let whole = header()
        #expect(SQLiteFileHeader(whole) != nil && SQLiteFileHeader(whole + [1, 2, 3]) != nil)
        for length in 0..<100 { #expect(SQLiteFileHeader(Array(whole.prefix(length))) == nil, "\(length) bytes") }
        for index in 0..<16 { #expect(SQLiteFileHeader(header { $0[index] ^= 1 }) == nil, "byte \(index)") }
    }

    @Test func itAgreesWithSQLite() throws {
        let scratch = try Scratch()
        for isWAL in [false, true] {
            let url = try scratch.database("\(isWAL).sqlite", rows: 500, wal: isWAL)
            let found = try #require(SQLiteFileHeader([UInt8](Data(contentsOf: url))))
            let queue = try AnySQLiteFile.open(url)
            let pages = try queue.read { try Int.fetchOne($0, sql: "PRAGMA page_count") }
            let size = try queue.read { try Int.fetchOne($0, sql: "PRAGMA page_size") }
            #expect(found.pages == pages && found.pageSize == size && found.usesWAL == isWAL)
        }
    }
}
