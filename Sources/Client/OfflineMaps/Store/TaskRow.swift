internal import Foundation
internal import GRDB

/// A task of the durable queue as its row keeps it.
struct TaskRow: Sendable, Hashable {
    /// 0 before it is written.
    var id = TaskID(number: 0)
    var kind: TaskKind
    /// `nil` for a task about the list.
    var item: Item?
    var priority: Int32 = 0
    var state: TaskState = .waiting(.turn)
    /// The cause of the last attempt that failed.
    var cause: FailureCause?
    var attempts: Int = 0
    /// SHA-256 of the part file.
    var part: String?
    /// Tasks with the same number are swapped together.
    var together: Int64?
    var rule = TaskRule()
}

extension TaskRow {
    /// Reads a row; `nil` for one that this version cannot understand.
    init?(_ row: Row) {
        guard let kind = TaskKind(rawValue: row["kind"]),
            let state = try? JSONDecoder().decode(TaskState.self, from: Data((row["state"] as String).utf8))
        else { return nil }
        var item: Item?
        if let key = row["item"] as String? {
            guard let known = Item(key: key) else { return nil }
            item = known
        }
        let rule = (row["rule"] as Data?).flatMap { try? JSONDecoder().decode(TaskRule.self, from: $0) }
        self.init(
            id: TaskID(number: row["id"]), kind: kind, item: item, priority: row["priority"], state: state,
            cause: (row["cause"] as String?).flatMap(FailureCause.init(rawValue:)), attempts: row["attempts"],
            part: row["part"], together: row["together"], rule: rule ?? TaskRule())
    }

    /// Writes the row: a new one for the number 0, otherwise over the old one.
    func write(to database: Database) throws -> TaskID {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let values: StatementArguments = [
            kind.rawValue, item?.key, priority, String(decoding: try encoder.encode(state), as: UTF8.self),
            cause?.rawValue, attempts, part, together, try encoder.encode(rule),
        ]
        if id.number == 0 {
            try database.cachedStatement(
                sql: """
                    INSERT INTO task (kind, item, priority, state, cause, attempts, part, together, rule)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: values)
            return TaskID(number: database.lastInsertedRowID)
        }
        try database.cachedStatement(
            sql: """
                UPDATE task SET kind = ?, item = ?, priority = ?, state = ?, cause = ?, attempts = ?, part = ?,
                together = ?, rule = ? WHERE id = ?
                """
        ).execute(arguments: values + [id.number])
        return id
    }
}
