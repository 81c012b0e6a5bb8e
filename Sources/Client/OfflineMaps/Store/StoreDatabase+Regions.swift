internal import Foundation
internal import GRDB
internal import SQLiteFiles

/// A region as its row keeps it.
struct RegionRow: Sendable {
    var definition: RegionDefinition
    var context = Data()
    /// What its last plan found; `nil` before the first.
    var needs: RegionNeeds?
}

extension StoreDatabase {
    /// The regions, by name; a row that this version cannot read is left out.
    func regions() throws -> [RegionID: RegionRow] {
        try read { database in
            var regions: [RegionID: RegionRow] = [:]
            let rows = try Row.fetchCursor(database, sql: "SELECT id, definition, context, required FROM region")
            while let row = try rows.next().map(CheckedRow.init) {
                guard let definition: RegionDefinition = Self.decode(try row(1)) else { continue }
                regions[RegionID(try row(0))] = try RegionRow(
                    definition: definition, context: row(2), needs: Self.decode(row(3)))
            }
            return regions
        }
    }

    /// The names of the regions in the order of their registration.
    func regionNames() throws -> [RegionID] {
        try read { database in
            try String.fetchAll(database, sql: "SELECT id FROM region ORDER BY rowid").map { RegionID($0) }
        }
    }

    /// Registers a region, or changes what it is to hold; what the plan of an equal definition found stays.
    func setRegion(_ id: RegionID, _ definition: RegionDefinition, context: Data) throws {
        try write { database in
            try database.execute(
                sql: """
                    INSERT INTO region (id, definition, context) VALUES (?, ?, ?) ON CONFLICT (id)
                    DO UPDATE SET definition = excluded.definition, context = excluded.context,
                    required = CASE WHEN definition = excluded.definition THEN required END
                    """, arguments: [id.text, try Self.encode(definition), context])
        }
    }

    /// Replaces the app's own data.
    ///
    /// - Returns: Whether there is such a region.
    func setContext(_ context: Data, of id: RegionID) throws -> Bool {
        try write { database in
            try database.execute(
                sql: "UPDATE region SET context = ? WHERE id = ?", arguments: [context, id.text])
            return database.changesCount > 0
        }
    }

    /// Notes what plans found that regions need.
    func setNeeds(_ needs: [RegionID: RegionNeeds]) throws {
        guard !needs.isEmpty else { return }
        try write { database in
            for (id, its) in needs {
                try database.execute(
                    sql: "UPDATE region SET required = ? WHERE id = ?", arguments: [try Self.encode(its), id.text])
            }
        }
    }
}
