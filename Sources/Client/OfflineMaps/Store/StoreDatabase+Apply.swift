internal import Foundation
internal import GRDB

/// What a transaction needs besides its changes.
struct ChangeDetails: Sendable {
    /// How tasks end.
    var ends: [TaskID: TaskState] = [:]
    /// The list that `Change.catalog` accepts.
    var catalog: CatalogCandidate?
}

/// A list that was read and verified, and that the rules have not accepted yet.
struct CatalogCandidate: Sendable {
    var verified: VerifiedCatalog
    var address: String
    var mark: CatalogMark
    /// What the publisher wrote, for other devices.
    var documents = CatalogDocuments(list: [])
}

extension StoreDatabase {
    /// Makes changes in one transaction: all of them or none.
    func apply(_ changes: [Change], _ details: ChangeDetails = ChangeDetails()) throws {
        try write { database in
            for change in changes { try Self.apply(change, details, in: database) }
        }
    }

    private static func apply(_ change: Change, _ details: ChangeDetails, in database: Database) throws {
        switch change {
        case .task(let task):
            try database.cachedStatement(
                sql: "INSERT OR REPLACE INTO task (id, kind, priority, record) VALUES (?, ?, ?, ?)"
            ).execute(arguments: [task.id.number, task.kind.rawValue, task.rule.priority, try encode(task)])
        case .endTask(let id): try end(id, details.ends[id], in: database)
        case .file(let file): try InstalledFileRow(file).insert(database)
        case .removeFile(let file):
            try database.execute(
                sql: "DELETE FROM installed_file WHERE key = ? AND version = ? AND sha256 = ?",
                arguments: [file.key.name, file.version, file.digest])
        case .hold(let hold):
            try database.execute(
                sql: "INSERT OR IGNORE INTO hold (key, is_pack, item) VALUES (?, ?, ?)",
                arguments: [hold.key.name, hold.key.isPack, hold.item.key])
        case .dropHold(let hold):
            try database.execute(
                sql: "DELETE FROM hold WHERE key = ? AND item = ?", arguments: [hold.key.name, hold.item.key])
        case .settings(let settings): try set("settings", to: settings, database)
        case .sequence(let source, let number):
            let (kind, name) = CatalogSource.parts(source)
            try database.execute(
                sql: """
                    INSERT INTO catalog (kind, name, sequence) VALUES (?, ?, ?)
                    ON CONFLICT (kind, name) DO UPDATE SET sequence = excluded.sequence
                    """, arguments: [kind, name, Int64(clamping: number)])
        case .catalog(let sequence): try accept(sequence, details.catalog, in: database)
        case .tiles(let item, let count):
            try database.execute(sql: "DELETE FROM tiles WHERE item = ?", arguments: [item.key])
            guard count > 0 else { return }
            try database.execute(
                sql: "INSERT INTO tiles (item, count) VALUES (?, ?)", arguments: [item.key, Int64(clamping: count)])
        case .answered(let id, let answer):
            // Requests of this process have no row.
            try database.execute(
                sql: "UPDATE request SET answer = ? WHERE id = ?", arguments: [try encode(answer), id.number])
        }
    }

    /// The ends of so many tasks stay.
    private static let keptEnds: Int64 = 256

    /// How tasks have ended; `nil` for one that is not known any more.
    func ends(of ids: Set<TaskID>) throws -> [TaskID: TaskState] {
        try read { database in
            var ends: [TaskID: TaskState] = [:]
            for id in ids {
                let bytes = try Data.fetchOne(
                    database, sql: "SELECT state FROM ended WHERE id = ?", arguments: [id.number])
                ends[id] = Self.decode(bytes)
            }
            return ends
        }
    }

    /// Removes a task; the end of a removal also removes the regions of its items.
    private static func end(_ id: TaskID, _ state: TaskState?, in database: Database) throws {
        if let state {
            try database.execute(
                sql: "INSERT OR REPLACE INTO ended (id, state) VALUES (?, ?)",
                arguments: [id.number, try encode(state)])
            try database.execute(sql: "DELETE FROM ended WHERE id < ?", arguments: [id.number - keptEnds])
        }
        let bytes = try Data.fetchOne(database, sql: "SELECT record FROM task WHERE id = ?", arguments: [id.number])
        for table in ["task WHERE id", "work WHERE task"] {
            try database.execute(sql: "DELETE FROM \(table) = ?", arguments: [id.number])
        }
        guard let task: TaskRecord = decode(bytes), task.kind == .remove else { return }
        for case .region(let region) in task.items {
            try database.execute(sql: "DELETE FROM region WHERE id = ?", arguments: [region.text])
        }
    }

    private static func accept(
        _ sequence: UInt64, _ candidate: CatalogCandidate?, in database: Database
    ) throws {
        guard let candidate else {
            throw StoreError(.storage, "The list \(sequence) is not known and cannot be accepted.")
        }
        try replaceOffers(candidate, database)
        try replace(candidate.documents, database)
        try set("catalog", to: Int64(bitPattern: sequence), database)
        try set("address", to: candidate.address, database)
    }
}

/// The texts that name an address and a key in the rules.
enum CatalogSource {
    static func address(_ text: String) -> String { "address " + text }
    static func key(_ id: String) -> String { "key " + id }

    /// The kind and the name of the row.
    static func parts(_ source: String) -> (kind: Int, name: String) {
        let isKey = source.hasPrefix("key ")
        return (isKey ? 1 : 0, String(source.dropFirst(isKey ? 4 : 8)))
    }
}
