internal import Foundation
internal import GRDB
internal import SQLiteFiles

/// A file of the store: its row, as readers need it.
struct StoredUnit: Sendable, Hashable {
    var file: FileID
    var row: UnitRow
}

extension StoreDatabase {
    /// All rows that the rules need.
    func rows() throws -> StoreRows { try load().rows }

    /// All rows that the rules need, and the units as readers need them, of one moment.
    ///
    /// A row that this version cannot read is left out.
    func load() throws -> (rows: StoreRows, units: [StoredUnit]) {
        try read { database in
            var rows = StoreRows()
            let tasks = try Row.fetchCursor(database, sql: "SELECT record FROM task")
            while let row = try tasks.next().map(CheckedRow.init) {
                if let task: TaskRecord = Self.decode(try row(0)) { rows.tasks[task.id] = task }
            }
            var units: [StoredUnit] = []
            let stored = try Row.fetchCursor(database, sql: "SELECT * FROM unit ORDER BY installed, unit")
            while let row = try stored.next().map(CheckedRow.init) {
                guard let unit = try StoredUnit(row) else { continue }
                units.append(unit)
                var record = UnitRecord(file: unit.file, bytes: unit.row.bytes, state: unit.row.state.ofRules)
                record.expires = unit.row.expires.map { Int64($0.timeIntervalSince1970) }
                record.usedAt = unit.row.usedAt.map { Int64($0.timeIntervalSince1970) } ?? 0
                record.order = try row("installed")
                record.age = unit.row.age
                rows.units[unit.file] = record
            }
            let holds = try Row.fetchCursor(database, sql: "SELECT unit, is_pack, item FROM hold")
            while let row = try holds.next().map(CheckedRow.init) {
                guard let item = Item(key: try row(2)) else { continue }
                rows.holds.insert(Hold(unit: UnitKey(name: try row(0), isPack: try row(1)), item: item))
            }
            rows.settings = try Self.setting("settings", database) ?? StoreSettings()
            rows.catalog = UInt64(bitPattern: try Self.catalogSequence(database))
            rows.sequences = try Self.sequenceRows(database)
            let tiles = try Row.fetchCursor(database, sql: "SELECT item, count FROM tiles")
            while let row = try tiles.next().map(CheckedRow.init) {
                if let item = Item(key: try row(0)) { rows.tiles[item] = UInt64(clamping: try row(1) as Int64) }
            }
            return (rows, units)
        }
    }

    /// The units that readers get.
    func units(_ states: Set<UnitRow.State> = [.current]) throws -> [UnitRow] {
        try load().units.map(\.row).filter { states.contains($0.state) }
    }

    /// The queue, in the order of its making.
    func tasks() throws -> [TaskRecord] {
        try read { database in
            try Data.fetchAll(database, sql: "SELECT record FROM task ORDER BY id").compactMap { Self.decode($0) }
        }
    }

    static func decode<Value: Decodable>(_ bytes: Data?) -> Value? {
        // A value that this version cannot read counts as missing.
        bytes.flatMap { try? JSONDecoder().decode(Value.self, from: $0) }
    }

    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(value)
    }
}

extension StoredUnit {
    /// Reads a row; `nil` for one that this version cannot understand.
    fileprivate init?(_ row: CheckedRow) throws {
        guard let unit = try UnitRow(row) else { return nil }
        let key = UnitKey(name: try row("unit"), isPack: try row("is_pack"))
        self.init(file: FileID(unit: key, version: try row("version"), digest: try row("sha256")), row: unit)
    }
}

extension UnitRow.State {
    var ofRules: UnitRecord.State { self == .current ? .current : .previous }
}

extension UnitRecord.State {
    var ofRow: UnitRow.State { self == .current ? .current : .previous }
}
