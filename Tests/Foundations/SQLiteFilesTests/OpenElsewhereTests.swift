import Foundation
import GRDB
import SQLiteFiles
import Testing

/// Files that another program uses, or has left as they were.
struct OpenElsewhereTests {
    /// Holds an exclusive lock for some seconds, or until it is released.
    private final class Lock: Sendable {
        private let queue: DatabaseQueue

        init(_ url: URL) throws {
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            queue = try DatabaseQueue(path: url.path, configuration: configuration)
            try queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        }

        func release() throws { try queue.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") } }
    }

    /// Waits the full ``AnySQLiteFile/patience`` of 5 seconds.
    @Test(.timeLimit(.minutes(15)))
    func aLongLockIsBusy() async throws {
        let scratch = try Scratch()
        let url = try scratch.database("a.sqlite")
        let lock = try Lock(url)
        let error = await #expect(throws: DatabaseError.self) {
            try await onOwnThread { _ = try AnySQLiteFile.open(url) }
        }
        let found = try #require(error)
        #expect(SQLiteFault(found) == .busy)
        let text = try #require(SQLiteFault.explanation(found, path: url.path))
        #expect(text.contains("is locked by another program") && text.contains("waited 5 s"))
        try lock.release()
        #expect(try count(try AnySQLiteFile.open(url)) == 3)
    }

    @Test(.timeLimit(.minutes(15)))
    func aShortLockIsWaitedFor() async throws {
        let scratch = try Scratch()
        let url = try scratch.database("a.sqlite")
        let lock = try Lock(url)
        async let released: Void = onOwnThread {
            Thread.sleep(forTimeInterval: 0.3)
            try lock.release()
        }
        async let rows = onOwnThread { try count(try AnySQLiteFile.open(url)) }
        #expect(try await rows == 3)
        try await released
    }

    @Test func aClosedWALFileLeavesNoFiles() throws {
        let scratch = try Scratch()
        let url = try scratch.database("a.sqlite", wal: true)
        #expect(try scratch.names() == ["a.sqlite"])
        let queue = try AnySQLiteFile.open(url)
        #expect(try count(queue) == 3)
        #expect(try scratch.names() == ["a.sqlite"], "while it is open")
        try queue.close()
        #expect(try scratch.names() == ["a.sqlite"])
    }

    @Test(.enabled(if: geteuid() != 0, "root may write into every folder"), arguments: [false, true])
    func aReadOnlyFolderIsEnough(isWAL: Bool) throws {
        let scratch = try Scratch()
        let url = try scratch.database("a.sqlite", wal: isWAL)
        let folder = scratch.folder.path
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder)
        defer {
            // Otherwise the folder cannot be removed; that does not change the result of the test.
            try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
        }
        #expect(try count(try AnySQLiteFile.open(url)) == 3)
    }

    @Test func rowsInAWriteAheadLogAreSeen() throws {
        let scratch = try Scratch()
        let url = try scratch.database("a.sqlite", wal: true)
        let writer = try DatabaseQueue(path: url.path)
        try writer.write { try $0.execute(sql: "INSERT INTO numbers VALUES (100, 'new')") }
        #expect(try scratch.names().contains("a.sqlite-wal"))
        #expect(try count(try AnySQLiteFile.open(url)) == 4)
        try writer.close()
        #expect(try count(try AnySQLiteFile.open(url)) == 4)
    }

    /// A program died in the middle of a change: only a connection that may write can undo it.
    @Test func anUnfinishedChangeIsExplained() throws {
        let scratch = try Scratch()
        let url = try scratch.database("a.sqlite", rows: 2_000)
        let copy = scratch.file("copy.sqlite")
        let queue = try DatabaseQueue(path: url.path)
        try queue.writeWithoutTransaction { database in
            // With one page of memory, SQLite writes changed pages before the end of the transaction.
            try database.execute(sql: "PRAGMA cache_size = 1; BEGIN; UPDATE numbers SET text = text || 'y'")
            try FileManager.default.copyItem(at: url, to: copy)
            try FileManager.default.copyItem(atPath: url.path + "-journal", toPath: copy.path + "-journal")
            try database.execute(sql: "ROLLBACK")
        }
        try queue.close()
        let error = #expect(throws: DatabaseError.self) { try AnySQLiteFile.open(copy) }
        let found = try #require(error)
        #expect(SQLiteFault(found) == .unreadable)
        let text = try #require(SQLiteFault.explanation(found, path: copy.path))
        #expect(text.contains("was not closed by the program that wrote it") && text.contains("PRAGMA quick_check"))
        // What the explanation recommends helps.
        let repair = try DatabaseQueue(path: copy.path)
        _ = try repair.writeWithoutTransaction { try Row.fetchAll($0, sql: "PRAGMA quick_check") }
        try repair.close()
        #expect(try count(try AnySQLiteFile.open(copy)) == 2_000)
    }
}
