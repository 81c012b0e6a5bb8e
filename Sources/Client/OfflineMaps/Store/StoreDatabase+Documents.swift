internal import Foundation
internal import GRDB
internal import SQLiteFiles

/// A list as its publisher wrote it.
struct CatalogDocuments: Sendable, Hashable {
    /// `catalog.json`.
    var list: [UInt8]
    /// `catalog.json.sig`; `nil` when none was read.
    var signature: [UInt8]?
}

extension StoreDatabase {
    /// Keeps a list in place of the one before, in the transaction that accepts it.
    static func replace(_ documents: CatalogDocuments, _ database: Database) throws {
        try database.execute(sql: "DELETE FROM document")
        let rows = [("list", documents.list)] + (documents.signature.map { [("signature", $0)] } ?? [])
        for (name, body) in rows {
            try database.execute(
                sql: "INSERT INTO document (name, body) VALUES (?, ?)", arguments: [name, Data(body)])
        }
    }

    /// The list that was accepted last, as its publisher wrote it; `nil` when none was read.
    func documents() throws -> CatalogDocuments? {
        try read { database in
            func body(_ name: String) throws -> [UInt8]? {
                try Data.fetchOne(database, sql: "SELECT body FROM document WHERE name = ?", arguments: [name])
                    .map { [UInt8]($0) }
            }
            guard let list = try body("list") else { return nil }
            return CatalogDocuments(list: list, signature: try body("signature"))
        }
    }
}
