import Foundation
import GRDB

/// A folder that is removed with the test.
final class Scratch {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("sqlite-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    // A folder that stays behind does not change the result of a test.
    deinit { try? FileManager.default.removeItem(at: folder) }

    func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

    /// Names of all files, ascending.
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }

    /// Makes a file with a table of `rows` rows, of some hundred bytes each, and closes it.
    func database(_ name: String, rows: Int = 3, wal: Bool = false, _ sql: String = "") throws -> URL {
        let url = file(name)
        let queue = try DatabaseQueue(path: url.path)
        if wal { try queue.writeWithoutTransaction { _ = try Row.fetchAll($0, sql: "PRAGMA journal_mode = WAL") } }
        try queue.write { database in
            try database.execute(sql: "CREATE TABLE numbers (number INTEGER PRIMARY KEY, text TEXT)")
            try database.execute(sql: sql)
            for number in 0..<rows {
                try database.execute(
                    sql: "INSERT INTO numbers VALUES (?, ?)",
                    arguments: [number, String(repeating: "x", count: 100 + number % 400)])
            }
        }
        try queue.close()
        return url
    }
}

/// The number of rows that a read finds.
func count(_ queue: DatabaseQueue) throws -> Int {
    try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM numbers") ?? -1 }
}

/// Runs a blocking read on a thread of its own, so that the tasks of other tests can run meanwhile.
func onOwnThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
}
