internal import Foundation
internal import GRDB
internal import SQLiteFiles

extension StoreDatabase {
    /// All rows that the rules need, of one moment.
    ///
    /// A row that this version cannot read is left out.
    func rows() throws -> StoreRows {
        try read { database in
            var rows = StoreRows()
            let tasks = try Row.fetchCursor(database, sql: "SELECT record FROM task")
            while let row = try tasks.next().map(CheckedRow.init) {
                if let task: TaskRecord = Self.decode(try row(0)) { rows.tasks[task.id] = task }
            }
            let files = try Row.fetchCursor(database, sql: "SELECT * FROM installed_file ORDER BY installed, key")
            while let row = try files.next() {
                do {
                    // A copy: GRDB reads the row of a statement without looking at the types of its values.
                    rows.apply(.file(try InstalledFileRow(row: row.copy()).file))
                } catch is DecodingError { continue }
            }
            let holds = try Row.fetchCursor(database, sql: "SELECT key, is_pack, item FROM hold")
            while let row = try holds.next().map(CheckedRow.init) {
                guard let item = Item(key: try row(2)) else { continue }
                rows.holds.insert(Hold(key: InstalledFileKey(name: try row(0), isPack: try row(1)), item: item))
            }
            rows.settings = try Self.setting("settings", database) ?? StoreSettings()
            rows.catalog = UInt64(bitPattern: try Self.catalogSequence(database))
            rows.sequences = try Self.sequenceRows(database)
            let tiles = try Row.fetchCursor(database, sql: "SELECT item, count FROM tiles")
            while let row = try tiles.next().map(CheckedRow.init) {
                if let item = Item(key: try row(0)) { rows.tiles[item] = UInt64(clamping: try row(1) as Int64) }
            }
            return rows
        }
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
