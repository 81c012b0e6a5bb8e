internal import Foundation
internal import GRDB

extension StoreDatabase {
    /// The units in some states, in the order of their installation.
    func units(_ states: Set<UnitRow.State> = [.current]) throws -> [UnitRow] {
        try read { database in
            var units: [UnitRow] = []
            let rows = try Row.fetchCursor(database, sql: "SELECT * FROM unit ORDER BY id")
            while let row = try rows.next() {
                if let unit = UnitRow(row), states.contains(unit.state) { units.append(unit) }
            }
            return units
        }
    }

    /// Makes units current in one transaction, all of them or none: the swap.
    ///
    /// What was current for the same item and format becomes previous, and of the previous units the newest `keeping`
    /// stay; the others are retired. Tile packs have one item for all packs of a package: pass the paths that go with
    /// `replacing`.
    ///
    /// - Parameters:
    ///   - keeping: How many previous versions of an item stay.
    ///   - replacing: Numbers of units that are retired besides.
    ///   - done: A task that ends with the swap; its row is removed.
    /// - Returns: The numbers of the new rows, in order.
    @discardableResult func swap(
        _ units: [UnitRow], keeping: Int = 0, replacing: [Int64] = [], done: [TaskID] = []
    ) throws -> [Int64] {
        try write { database in
            var numbers: [Int64] = []
            for unit in units {
                if unit.item.hasOneFile {
                    try database.execute(
                        sql: "UPDATE unit SET state = 1 WHERE item = ? AND state = 0", arguments: [unit.item.key])
                }
                // The same file again, after a rollback or a crash: its row comes back.
                try database.execute(sql: "DELETE FROM unit WHERE path = ?", arguments: [unit.path])
                var unit = unit
                unit.state = .current
                numbers.append(try unit.insert(into: database))
                try Self.limitPrevious(of: unit.item, to: keeping, database)
            }
            try Self.retire(replacing, database)
            for task in done { try Self.remove(task, database) }
            return numbers
        }
    }

    /// Goes back to the newest previous version of an item; the current one is retired.
    ///
    /// - Returns: The version that is current now; `nil` when none was kept.
    func rollBack(_ item: Item) throws -> Int32? {
        try write { database in
            guard
                let row = try Row.fetchOne(
                    database,
                    sql: "SELECT id, version FROM unit WHERE item = ? AND state = 1 ORDER BY version DESC, id DESC",
                    arguments: [item.key])
            else { return nil }
            try database.execute(
                sql: "UPDATE unit SET state = 2 WHERE item = ? AND state = 0", arguments: [item.key])
            try database.execute(sql: "UPDATE unit SET state = 0 WHERE id = ?", arguments: [row[0] as Int64])
            return row[1]
        }
    }

    /// Retires all units of an item that no region holds.
    ///
    /// - Returns: The retired units, whose files are to be removed.
    func retire(_ item: Item, done: [TaskID] = []) throws -> [UnitRow] {
        try write { database in
            let held = "SELECT unit FROM region_unit"
            try database.execute(
                sql: "UPDATE unit SET state = 2 WHERE item = ? AND id NOT IN (\(held))", arguments: [item.key])
            for task in done { try Self.remove(task, database) }
            return try Row.fetchAll(
                database, sql: "SELECT * FROM unit WHERE item = ? AND state = 2", arguments: [item.key]
            ).compactMap(UnitRow.init)
        }
    }

    /// Forgets retired units, whose files are gone.
    func forget(_ units: [UnitRow]) throws {
        try write { database in
            for unit in units {
                try database.execute(sql: "DELETE FROM unit WHERE id = ? AND state = 2", arguments: [unit.id])
            }
        }
    }

    private static func limitPrevious(of item: Item, to keeping: Int, _ database: Database) throws {
        try database.execute(
            sql: """
                UPDATE unit SET state = 2 WHERE item = ?1 AND state = 1 AND id NOT IN
                (SELECT id FROM unit WHERE item = ?1 AND state = 1 ORDER BY version DESC, id DESC LIMIT ?2)
                """, arguments: [item.key, max(0, keeping)])
    }

    private static func retire(_ numbers: [Int64], _ database: Database) throws {
        for number in numbers {
            try database.execute(sql: "UPDATE unit SET state = 2 WHERE id = ?", arguments: [number])
        }
    }
}

extension Item {
    /// Whether a newer unit of the item takes the place of the older one; tile packs are many units of one item.
    var hasOneFile: Bool {
        switch self {
        case .package, .style: true
        case .packs, .region: false
        }
    }
}
