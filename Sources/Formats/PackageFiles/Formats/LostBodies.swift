internal import Foundation
internal import GRDB

/// Tiles whose bodies are missing from an MBTiles file, in the layouts that store bodies once.
enum LostBodies {
    /// How many there are; a join would not return them.
    ///
    /// - Returns: `nil` in a layout that keeps both in one row.
    static func count(_ database: Database) throws -> Int? {
        let tables = try String.fetchSet(database, sql: "SELECT lower(name) FROM sqlite_schema WHERE type = 'table'")
        if tables.isSuperset(of: ["tiles_shallow", "tiles_data"]) {
            return try count(database, of: "tiles_shallow", by: "tile_data_id", in: "tiles_data", orNull: true)
        }
        guard tables.isSuperset(of: ["map", "images"]) else { return nil }
        // A row without a tile can exist for its grid.
        return try count(database, of: "map", by: "tile_id", in: "images", orNull: false)
    }

    private static func count(
        _ database: Database, of table: String, by id: String, in bodies: String, orNull: Bool
    ) throws -> Int {
        let columns = try [table, bodies].map { try database.columns(in: $0).map { $0.name.lowercased() } }
        guard columns.allSatisfy({ $0.contains(id) }) else { return 0 }
        let null = orNull ? "\(id) IS NULL OR " : ""
        return try Int.fetchOne(
            database,
            sql: """
                SELECT count(*) FROM \(table)
                WHERE \(null)\(id) IS NOT NULL AND \(id) NOT IN (SELECT \(id) FROM \(bodies) WHERE \(id) IS NOT NULL)
                """) ?? 0
    }
}
