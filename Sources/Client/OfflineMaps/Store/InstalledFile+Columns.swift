internal import Foundation
internal import GRDB
internal import Tiles

/// The record as a row of the database and as JSON: one level of numbers, texts and bytes.
extension InstalledFile: Codable {
    private enum CodingKeys: String, CodingKey {
        case key, version, sha256, item, path, bytes, format, mask, tileset, template, attribution, expires, state,
            engine
        case hasUnusable = "has_unusable"
        case isPack = "is_pack"
        case minZoom = "min_zoom"
        case maxZoom = "max_zoom"
        case dataDate = "data_date"
        case usedAt = "used_at"
        case order = "installed"
    }

    /// - Throws: `DecodingError` for an item, a mask, a size or a state that is invalid or that this version does not know.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func valid<Value>(_ value: Value?, _ key: CodingKeys) throws -> Value {
            if let value { return value }
            throw DecodingError.dataCorruptedError(forKey: key, in: values, debugDescription: "invalid")
        }
        let key = InstalledFileKey(
            name: try values.decode(String.self, forKey: .key), isPack: try values.decode(Bool.self, forKey: .isPack))
        id = FileID(
            key: key, version: try values.decode(Int32.self, forKey: .version),
            digest: try values.decode(String.self, forKey: .sha256))
        item = try valid(Item(key: values.decode(String.self, forKey: .item)), .item)
        path = try values.decode(String.self, forKey: .path)
        bytes = try valid(UInt64(exactly: values.decode(Int64.self, forKey: .bytes)), .bytes)
        format = Format(try values.decode(String.self, forKey: .format))
        mask = try values.decodeIfPresent(Data.self, forKey: .mask).map {
            try valid(try? TileMask(decoding: $0), .mask)
        }
        zooms = Self.zooms(
            try values.decodeIfPresent(Int.self, forKey: .minZoom),
            try values.decodeIfPresent(Int.self, forKey: .maxZoom))
        tileset = try values.decodeIfPresent(String.self, forKey: .tileset)
        template = try values.decodeIfPresent(String.self, forKey: .template)
        dataDate = try values.decodeIfPresent(String.self, forKey: .dataDate)
        attribution = try values.decodeIfPresent(String.self, forKey: .attribution)
        engine = try values.decodeIfPresent(String.self, forKey: .engine)
        hasUnusable = try values.decodeIfPresent(Bool.self, forKey: .hasUnusable) ?? false
        expires = try values.decodeIfPresent(Int64.self, forKey: .expires)
        usedAt = try values.decode(Int64.self, forKey: .usedAt)
        order = try values.decode(Int64.self, forKey: .order)
        state = try valid(State(rawValue: values.decode(Int.self, forKey: .state)), .state)
    }

    /// Writes every column; absent ones are left out.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id.key.name, forKey: .key)
        try values.encode(id.key.isPack, forKey: .isPack)
        try values.encode(version, forKey: .version)
        try values.encode(sha256, forKey: .sha256)
        try values.encode(item.key, forKey: .item)
        try values.encode(path, forKey: .path)
        try values.encode(Int64(clamping: bytes), forKey: .bytes)
        try values.encode(format.name, forKey: .format)
        try values.encodeIfPresent(mask.map { Data($0.encoded()) }, forKey: .mask)
        try values.encodeIfPresent(zooms?.min, forKey: .minZoom)
        try values.encodeIfPresent(zooms?.max, forKey: .maxZoom)
        try values.encodeIfPresent(tileset, forKey: .tileset)
        try values.encodeIfPresent(template, forKey: .template)
        try values.encodeIfPresent(dataDate, forKey: .dataDate)
        try values.encodeIfPresent(attribution, forKey: .attribution)
        try values.encodeIfPresent(engine, forKey: .engine)
        if hasUnusable { try values.encode(true, forKey: .hasUnusable) }
        try values.encodeIfPresent(expires, forKey: .expires)
        try values.encode(usedAt, forKey: .usedAt)
        try values.encode(order, forKey: .order)
        try values.encode(state.rawValue, forKey: .state)
    }

    static func zooms(_ first: Int?, _ last: Int?) -> ZoomRange? {
        guard let first, let last else { return nil }
        return ZoomRange(min: first, max: last)
    }
}

/// The row of a file: a public type cannot conform to the protocols of GRDB, which is not part of the interface.
struct InstalledFileRow: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "installed_file"
    static let persistenceConflictPolicy = PersistenceConflictPolicy(insert: .replace, update: .replace)

    let file: InstalledFile

    init(_ file: InstalledFile) { self.file = file }
    init(from decoder: any Decoder) throws { file = try InstalledFile(from: decoder) }
    func encode(to encoder: any Encoder) throws { try file.encode(to: encoder) }
}
