internal import Foundation
internal import GRDB
internal import SQLiteFiles

extension StoreDatabase {
    /// Keeps how far tasks are; for a task that has ended nothing is kept.
    func setWork(_ works: [TaskID: TaskWork]) throws {
        guard !works.isEmpty else { return }
        try write { database in
            for (id, work) in works.sorted(by: { $0.key < $1.key }) {
                try database.execute(
                    sql: "INSERT OR REPLACE INTO work (task, state) SELECT id, ? FROM task WHERE id = ?",
                    arguments: [try Self.encode(work), id.number])
            }
        }
    }

    /// How far the tasks of the queue were when that was kept last.
    func works() throws -> [TaskID: TaskWork] {
        try read { database in
            var works: [TaskID: TaskWork] = [:]
            let rows = try Row.fetchCursor(database, sql: "SELECT task, state FROM work")
            while let row = try rows.next().map(CheckedRow.init) {
                works[TaskID(number: try row(0))] = Self.decode(try row(1))
            }
            return works
        }
    }
}
