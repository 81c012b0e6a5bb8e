internal import Foundation
internal import GRDB
internal import Tiles

/// An installed file, which never changes: a package, a tile pack, a style pack, or an adopted file.
struct UnitRow: Sendable, Hashable {
    /// Whether readers use it.
    enum State: Int, Sendable, Hashable {
        /// Readers use it.
        case current
        /// Kept for a rollback.
        case previous
        /// Its file is to be removed.
        case retired
    }

    /// The number of the row; 0 before it is written.
    var id: Int64 = 0
    var item: Item
    var version: Int32
    /// Below the folder of the store; absolute for a file that was adopted where it is.
    var path: String
    var bytes: UInt64
    /// 64 lower-case hexadecimal digits.
    var sha256: String
    var format: Format
    /// `nil` for a style.
    var mask: TileMask?
    var zooms: ZoomRange?
    var tileset: String?
    /// The address that its tiles have on the network.
    var template: String?
    var dataDate: String?
    var attribution: String?
    var expires: Date?
    var usedAt: Date?
    var state = State.current
}

extension UnitRow {
    /// Reads a row; `nil` for one that this version cannot understand.
    init?(_ row: Row) {
        guard let item = Item(key: row["item"]), let state = State(rawValue: row["state"]) else { return nil }
        var mask: TileMask?
        if let bytes = row["mask"] as Data? {
            guard let decoded = try? TileMask(decoding: bytes) else { return nil }
            mask = decoded
        }
        self.init(
            id: row["id"], item: item, version: row["version"], path: row["path"],
            bytes: UInt64(clamping: row["bytes"] as Int64), sha256: row["sha256"], format: Format(row["format"]),
            mask: mask, zooms: Self.zooms(row["min_zoom"], row["max_zoom"]), tileset: row["tileset"],
            template: row["template"], dataDate: row["data_date"], attribution: row["attribution"],
            expires: (row["expires"] as Double?).map(Date.init(timeIntervalSince1970:)),
            usedAt: (row["used_at"] as Double?).map(Date.init(timeIntervalSince1970:)), state: state)
    }

    /// Inserts the row and gives its number.
    func insert(into database: Database) throws -> Int64 {
        try database.cachedStatement(
            sql: """
                INSERT INTO unit (kind, item, version, path, bytes, sha256, format, mask, min_zoom, max_zoom, tileset,
                template, data_date, attribution, expires, used_at, state)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            item.kindName, item.key, version, path, Int64(clamping: bytes), sha256, format.name,
            mask.map { Data($0.encoded()) }, zooms?.min, zooms?.max, tileset, template, dataDate, attribution,
            expires?.timeIntervalSince1970, usedAt?.timeIntervalSince1970, state.rawValue,
        ])
        return database.lastInsertedRowID
    }

    static func zooms(_ first: Int?, _ last: Int?) -> ZoomRange? {
        guard let first, let last else { return nil }
        return ZoomRange(min: first, max: last)
    }
}

extension Item {
    /// The first word of ``key``.
    var kindName: String { String(key.prefix { $0 != "|" }) }
}
