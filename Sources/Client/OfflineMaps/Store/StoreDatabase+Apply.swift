internal import Foundation
internal import GRDB

/// What a transaction needs besides its changes.
struct ChangeDetails: Sendable {
    /// The rows of files that become installed.
    var units: [FileID: UnitRow] = [:]
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
        case .unit(let record): try write(record, details.units[record.file], in: database)
        case .removeUnit(let file):
            try database.execute(
                sql: "DELETE FROM unit WHERE unit = ? AND version = ? AND sha256 = ?",
                arguments: [file.unit.name, file.version, file.digest])
        case .confirmed(let file, let expires, let age): try confirm(file, expires: expires, age, in: database)
        case .hold(let hold):
            try database.execute(
                sql: "INSERT OR IGNORE INTO hold (unit, is_pack, item) VALUES (?, ?, ?)",
                arguments: [hold.unit.name, hold.unit.isPack, hold.item.key])
        case .dropHold(let hold):
            try database.execute(
                sql: "DELETE FROM hold WHERE unit = ? AND item = ?", arguments: [hold.unit.name, hold.item.key])
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

    /// Corrects the bytes of an installed file.
    func setBytes(_ bytes: UInt64, of file: FileID) throws {
        try write { database in
            try database.execute(
                sql: "UPDATE unit SET bytes = ? WHERE unit = ? AND version = ? AND sha256 = ?",
                arguments: [Int64(clamping: bytes), file.unit.name, file.version, file.digest])
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
        try database.execute(sql: "DELETE FROM task WHERE id = ?", arguments: [id.number])
        guard let task: TaskRecord = decode(bytes), task.kind == .remove else { return }
        for case .region(let region) in task.items {
            try database.execute(sql: "DELETE FROM region WHERE id = ?", arguments: [region.text])
        }
    }

    /// Writes the row of a new file, or what has changed about a known one.
    private static func write(_ record: UnitRecord, _ new: UnitRow?, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE unit SET state = ?, installed = ?, used_at = ? WHERE unit = ? AND version = ? AND sha256 = ?
                """,
            arguments: [
                record.state.ofRow.rawValue, record.order, record.usedAt > 0 ? Double(record.usedAt) : nil,
                record.file.unit.name, record.file.version,
                record.file.digest,
            ])
        guard database.changesCount == 0 else { return }
        guard var row = new else {
            throw StoreError(.storage, "The file '\(record.file.unit.name)' is not known and cannot be installed.")
        }
        row.state = record.state.ofRow
        row.bytes = record.bytes
        row.expires = row.expires ?? record.expires.map { Date(timeIntervalSince1970: Double($0)) }
        try row.write(as: record.file, installed: record.order, to: database)
    }

    private static func confirm(_ file: FileID, expires: Int64?, _ age: PackAge?, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE unit SET expires = ?, item = coalesce(?, item), data_date = coalesce(?, data_date)
                WHERE unit = ? AND version = ? AND sha256 = ?
                """,
            arguments: [
                expires.map { Double($0) }, age?.source.key, age?.dataDate, file.unit.name, file.version, file.digest,
            ])
    }

    private static func accept(
        _ sequence: UInt64, _ candidate: CatalogCandidate?, in database: Database
    ) throws {
        guard let candidate else {
            throw StoreError(.storage, "The list \(sequence) is not known and cannot be accepted.")
        }
        try replaceOffers(candidate, database)
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
