public import Digests
internal import Files
public import Foundation
internal import GRDB
public import PackageFiles
internal import Tiles

/// Reads a MapLibre offline database completely and reports all errors, also those that only affect clients.
public enum OfflineDatabaseVerify {
    /// Verifies structure, seal, definitions, resources, every tile's body, and that each region is complete for a
    /// client.
    ///
    /// Never changes the file. The report's `tilesHash` is a SHA-256 over coordinates and unpacked bodies in the order
    /// of the rows. Memory: about 20 MB. Blocks for a long time.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - expecting: The digest the file must have.
    /// - Throws: `PackagesError` `io` when the file cannot be read at all; everything else is a problem in the report.
    public static func run(_ url: URL, expecting: Digest? = nil) throws -> VerifyReport {
        var report = try read(url).report
        if let expecting {
            let found = try Digest.ofFile(url).digest
            if found != expecting {
                report.add("digest-mismatch", at: "file", because: "SHA-256 is \(found), expected \(expecting)")
            }
        }
        return report
    }

    /// The report, and the hash of the tiles in the order of their rows.
    static func read(_ url: URL) throws -> (report: VerifyReport, content: String) {
        let head = try FileHead(url)
        var report = VerifyReport(path: url.path, size: head.size, kind: "MapLibre")
        report.dialect = "offline-database"
        guard checkHead(head.bytes, of: url, into: &report) else { return (report, "") }
        var content = TileContent()
        do {
            try PackageDatabase.reading(url) { database in
                for text in try String.fetchAll(database, sql: "PRAGMA integrity_check(20)") where text != "ok" {
                    report.add("sqlite-integrity", at: "file", because: text)
                }
                guard try SchemaCheck.run(database, &report) else { return }
                if try database.tableExists(OfflineSchema.sealed) {
                    try SQLiteSeal.check(url, table: OfflineSchema.sealed, in: database, into: &report)
                }
                let resources = try ResourceRows(database, &report)
                let tiles = try TileRows.check(database, into: &report, content: &content)
                try RegionCheck(database, resources: resources, tiles: tiles).run(&report)
            }
        } catch let error as DatabaseError {
            report.add(
                "sqlite", at: "file", because: "SQLite cannot read it: \(error.message ?? "error \(error.resultCode)")")
        }
        report.tilesHash = content.finish()
        return (report, report.tilesHash)
    }

    /// Whether it is worth going on.
    private static func checkHead(_ head: [UInt8], of url: URL, into report: inout VerifyReport) -> Bool {
        guard head.count == 100, head.starts(with: Array("SQLite format 3\0".utf8)) else {
            report.add("not-sqlite", at: "file", because: "it does not begin with a SQLite header")
            return false
        }
        func number(_ offset: Int, _ count: Int) -> UInt64 {
            head[offset..<offset + count].reduce(0) { $0 << 8 | UInt64($1) }
        }
        let pageSize = number(16, 2) == 1 ? 65_536 : number(16, 2)
        let stated = number(28, 4) * pageSize
        if stated != report.size {
            report.add(
                "wrong-size", at: "file",
                because: "it has \(report.size) bytes, its header says \(number(28, 4)) pages of \(pageSize)")
            if stated > report.size { return false }
        }
        if head[18] == 2 || head[19] == 2 {
            report.add("wal-mode", at: "file", because: "it is in WAL mode; clients need a rollback journal")
        }
        for suffix in ["-wal", "-shm", "-journal"] where FileManager.default.fileExists(atPath: url.path + suffix) {
            report.add(
                "side-file", at: "file",
                because: "'\(url.lastPathComponent)\(suffix)' exists next to it: the file was not closed cleanly")
        }
        return true
    }
}

/// Whether the tables are the client's, column by column.
enum SchemaCheck {
    /// - Returns: Whether the tables can be read at all.
    static func run(_ database: Database, _ report: inout VerifyReport) throws -> Bool {
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        if version != OfflineSchema.version {
            report.add(
                "wrong-version", at: "file",
                because: "user_version is \(version), clients accept only \(OfflineSchema.version)")
        }
        if try Int.fetchOne(database, sql: "PRAGMA auto_vacuum") != OfflineSchema.autoVacuum {
            report.add(
                "wrong-vacuum", at: "file",
                because: "auto_vacuum is not incremental; clients would rewrite the whole file")
        }
        var isReadable = true
        for (table, expected) in OfflineSchema.columns.sorted(by: { $0.key < $1.key }) {
            let rows = try Row.fetchAll(
                database, sql: #"SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?)"#,
                arguments: [table])
            let found = rows.map { row in
                OfflineSchema.Column(
                    name: row[0] ?? "", type: (row[1] ?? "").uppercased(), isRequired: row[2] == 1, fallback: row[3],
                    isKey: row[4] == 1)
            }
            guard found != expected else { continue }
            if Set(found.map(\.name)) != Set(expected.map(\.name)) { isReadable = false }
            report.add("wrong-schema", at: "table '\(table)'", because: "its columns are not those of schema version 6")
        }
        for (table, columns) in OfflineSchema.unique.sorted(by: { $0.key < $1.key })
        where try !isUnique(database, table: table, columns: columns) {
            report.add(
                "wrong-schema", at: "table '\(table)'", because: "\(columns.joined(separator: ", ")) are not unique")
        }
        for (name, table, column) in OfflineSchema.indexes {
            let columns = try String.fetchAll(
                database, sql: "SELECT name FROM pragma_index_info(?)", arguments: [name])
            let owner = try String.fetchOne(
                database, sql: "SELECT tbl_name FROM sqlite_schema WHERE type = 'index' AND name = ?", arguments: [name]
            )
            if columns != [column] || owner != table {
                report.add(
                    "wrong-schema", at: "index '\(name)'", because: "it is not the index of \(table) by \(column)")
            }
        }
        if let row = try Row.fetchOne(database, sql: "SELECT * FROM pragma_foreign_key_check LIMIT 1") {
            let table: String = row[0] ?? ""
            report.add("lost-row", at: "table '\(table)'", because: "a row refers to a row that does not exist")
        }
        return isReadable
    }

    private static func isUnique(_ database: Database, table: String, columns: [String]) throws -> Bool {
        let names = try String.fetchAll(
            database, sql: #"SELECT name FROM pragma_index_list(?) WHERE "unique" = 1"#, arguments: [table])
        for name in names
        where try String.fetchAll(database, sql: "SELECT name FROM pragma_index_info(?)", arguments: [name]) == columns
        {
            return true
        }
        return false
    }
}
