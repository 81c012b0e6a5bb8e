internal import Foundation
internal import GRDB

extension StoreDatabase {
    /// The data groups that the user selected.
    func groups() throws -> Set<String> { try read { Set(try Self.setting("groups", $0) as [String]? ?? []) } }

    /// Selects data groups.
    func setGroups(_ groups: Set<String>) throws { try write { try Self.set("groups", to: groups.sorted(), $0) } }

    /// The quota and the network rule that the app named when the store was opened last.
    func optionsOfLastOpen() throws -> StoreSettings? { try read { try Self.setting("options", $0) } }

    /// Notes what the app named; see ``optionsOfLastOpen()``.
    func noteOptions(_ options: StoreSettings) throws { try write { try Self.set("options", to: options, $0) } }

    /// The keys that the app named when the store was opened last.
    func trustedKeys() throws -> [String]? { try read { try Self.setting("trust", $0) } }

    /// Notes the keys that the app named.
    func noteTrustedKeys(_ keys: Set<String>) throws { try write { try Self.set("trust", to: keys.sorted(), $0) } }

    /// The address of the catalog whose offers are in the rows.
    func catalogAddress() throws -> String? { try read { try Self.setting("address", $0) } }

    /// Forgets the offers of another catalog; sequences stay.
    func dropOffers() throws {
        try write { database in
            try database.execute(sql: "DELETE FROM offer")
            try database.execute(sql: "DELETE FROM node")
            try database.execute(sql: "DELETE FROM document")
            try database.execute(sql: "DELETE FROM setting WHERE name IN ('catalog', 'address')")
            try database.execute(sql: "UPDATE catalog SET etag = NULL, checked_at = NULL, pack_limit = NULL")
        }
    }

    static func setting<Value: Decodable>(_ name: String, _ database: Database) throws -> Value? {
        let bytes = try Data.fetchOne(database, sql: "SELECT value FROM setting WHERE name = ?", arguments: [name])
        // The top level is a list, so that every value is a document.
        return (decode(bytes) as [Value]?)?.first
    }

    static func set(_ name: String, to value: some Encodable, _ database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)", arguments: [name, try encode([value])])
    }

    static func catalogSequence(_ database: Database) throws -> Int64 { try setting("catalog", database) ?? 0 }
}
