internal import GRDB

extension StoreDatabase {
    /// The queue, in the order of its making.
    func tasks() throws -> [TaskRow] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM task ORDER BY id").compactMap(TaskRow.init)
        }
    }

    /// Writes tasks, all of them or none: new ones get their numbers, others replace their rows.
    ///
    /// The tasks are in the durable queue when the call returns.
    @discardableResult func write(_ tasks: [TaskRow]) throws -> [TaskID] {
        try write { database in try tasks.map { try $0.write(to: database) } }
    }

    /// Removes a task that has ended or was cancelled.
    func remove(_ task: TaskID) throws { try write { try Self.remove(task, $0) } }

    static func remove(_ task: TaskID, _ database: Database) throws {
        try database.execute(sql: "DELETE FROM task WHERE id = ?", arguments: [task.number])
    }
}
