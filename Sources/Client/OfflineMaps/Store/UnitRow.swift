internal import Foundation
internal import GRDB
internal import SQLiteFiles
internal import Tiles

/// An installed file, which never changes: a package, a tile pack, a style pack, or an adopted file.
struct UnitRow: Sendable, Hashable {
    /// Whether readers use it.
    enum State: Int, Sendable, Hashable {
        /// Readers use it.
        case current
        /// Kept for a rollback.
        case previous
    }

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
    ///
    /// - Throws: `RowDecodingError` for a value of another type.
    init?(_ row: CheckedRow) throws {
        guard let item = Item(key: try row("item")), let state = State(rawValue: try row("state")) else { return nil }
        var mask: TileMask?
        if let bytes = try row("mask") as Data? {
            // `nil` says that the mask is none.
            guard let decoded = try? TileMask(decoding: bytes) else { return nil }
            mask = decoded
        }
        try self.init(
            item: item, version: row("version"), path: row("path"),
            bytes: UInt64(clamping: row("bytes") as Int64), sha256: row("sha256"), format: Format(row("format")),
            mask: mask, zooms: Self.zooms(row("min_zoom"), row("max_zoom")), tileset: row("tileset"),
            template: row("template"), dataDate: row("data_date"), attribution: row("attribution"),
            expires: (row("expires") as Double?).map(Date.init(timeIntervalSince1970:)),
            usedAt: (row("used_at") as Double?).map(Date.init(timeIntervalSince1970:)), state: state)
    }

    /// Writes the row of a file, over an older one.
    func write(as file: FileID, installed order: Int64, to database: Database) throws {
        try database.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO unit (unit, is_pack, version, sha256, kind, item, path, bytes, format, mask,
                min_zoom, max_zoom, tileset, template, data_date, attribution, expires, used_at, installed, state)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            file.unit.name, file.unit.isPack, file.version, file.digest, item.kindName, item.key, path,
            Int64(clamping: bytes), format.name, mask.map { Data($0.encoded()) }, zooms?.min, zooms?.max, tileset,
            template, dataDate, attribution, expires?.timeIntervalSince1970, usedAt?.timeIntervalSince1970, order,
            state.rawValue,
        ])
    }

    static func zooms(_ first: Int?, _ last: Int?) -> ZoomRange? {
        guard let first, let last else { return nil }
        return ZoomRange(min: first, max: last)
    }
}

extension UnitRow {
    /// Whether it is a file that was adopted where it is: its path is absolute.
    var isOutside: Bool { path.utf8.first == UInt8(ascii: "/") }

    /// The age of a pack from a list; `nil` for other files.
    var age: PackAge? {
        guard case .packs = item else { return nil }
        return PackAge(date: dataDate ?? "", source: item)
    }
}

extension PackAge {
    /// The date as rows have it.
    var dataDate: String? { date.isEmpty ? nil : date }
}

extension Item {
    /// The first word of ``key``.
    var kindName: String { String(key.prefix { $0 != "|" }) }
}
