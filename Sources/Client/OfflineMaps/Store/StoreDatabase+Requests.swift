internal import Foundation
internal import GRDB
internal import SQLiteFiles

extension StoreDatabase {
    /// Writes a request for the process that does the work.
    func addRequest(_ request: Request) throws -> RequestID {
        try write { database in
            try database.execute(
                sql: "INSERT INTO request (body, asked_at) VALUES (?, ?)",
                arguments: [try Self.encode(request), Date().timeIntervalSince1970])
            return RequestID(number: database.lastInsertedRowID)
        }
    }

    /// The requests without an answer, the oldest first.
    func openRequests() throws -> [(id: RequestID, request: Request)] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT id, body FROM request WHERE answer IS NULL ORDER BY id")
                .map(CheckedRow.init).compactMap { row in
                    try (Self.decode(row(1)) as Request?).map { (RequestID(number: try row(0)), $0) }
                }
        }
    }

    /// The answers to some requests; the rows of answered requests are removed.
    func takeAnswers(to ids: Set<RequestID>) throws -> [RequestID: Answer] {
        let found = try read { database in
            var found: [RequestID: Answer] = [:]
            for id in ids {
                let bytes = try Data.fetchOne(
                    database, sql: "SELECT answer FROM request WHERE id = ?", arguments: [id.number])
                if let answer: Answer = Self.decode(bytes) { found[id] = answer }
            }
            return found
        }
        guard !found.isEmpty else { return [:] }
        try write { database in
            for id in found.keys {
                try database.execute(sql: "DELETE FROM request WHERE id = ?", arguments: [id.number])
            }
        }
        return found
    }

    /// Removes answers that were not read for an hour: the process that asked has ended.
    func dropOldAnswers() throws {
        try write {
            try $0.execute(
                sql: "DELETE FROM request WHERE answer IS NOT NULL AND asked_at < ?",
                arguments: [Date().timeIntervalSince1970 - 3_600])
        }
    }
}
