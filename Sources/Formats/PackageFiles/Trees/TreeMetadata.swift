internal import Foundation
package import TileBodies
internal import Tiles

/// The `tiles.json` of a tree: TileJSON 3.0 with a relative address of the tiles, the further rows of the metadata, and the seal.
package struct TreeMetadata {
    private var object: [String: Any]

    /// Rows that have another form here, or none.
    private static let elsewhere: Set<String> = [
        "format", "minzoom", "maxzoom", "bounds", "center", "json", "scheme", SQLiteSeal.name,
    ]
    /// Names the program, so that a lost seal is noticed.
    private static let generator = "packhorse"

    /// Makes the document for the rows of a package.
    ///
    /// Vector tiles are stored unpacked in a tree, so it has not the hash of a package of them.
    package init(rows: [String: String], format: TileFormat) {
        object = [:]
        if let json = rows["json"], let members = Self.parse(Array(json.utf8)) { object = members }
        for (name, value) in rows where !Self.elsewhere.contains(name) { object[name] = value }
        if format.traits.coding != .identity { object["agg_tiles_hash"] = nil }
        object["tilejson"] = "3.0.0"
        object["scheme"] = "xyz"
        object["tiles"] = ["{z}/{x}/{y}.\(TreePath.ending(format))"]
        object["format"] = format.rawValue
        object["generator"] = Self.generator
        for name in ["minzoom", "maxzoom"] { object[name] = rows[name].flatMap { Int($0) } }
        for (name, count) in [("bounds", 4), ("center", 3)] {
            let numbers = (rows[name] ?? "").split(separator: ",").compactMap {
                Decimal(string: $0.trimmingCharacters(in: .whitespaces))
            }
            // TileJSON has its zoom as a number too.
            if numbers.count == count { object[name] = numbers.map { NSDecimalNumber(decimal: $0) } }
        }
        object[SQLiteSeal.name] = SQLiteSeal.blank
    }

    /// Reads a document; `nil` when it is not one JSON object.
    package init?(_ text: [UInt8]) {
        guard let object = Self.parse(text) else { return nil }
        self.object = object
    }

    /// Whether Packhorse wrote it, so that a seal must be there.
    package var promisesSeal: Bool {
        object[SQLiteSeal.name] != nil || object["generator"] as? String == Self.generator
    }

    /// JSON text with sorted keys and no spaces, the seal still blank.
    package func text() throws -> [UInt8] {
        [UInt8](try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes]))
    }

    /// The rows of an MBTiles file with these facts.
    package var rows: [String: String] {
        var rows: [String: String] = [:]
        var members: [String: Any] = [:]
        for (name, value) in object where !Self.elsewhere.contains(name) {
            if let text = value as? String { rows[name] = text } else { members[name] = value }
        }
        rows["format"] = object["format"] as? String
        for name in ["minzoom", "maxzoom"] { rows[name] = object[name].map(Self.text) }
        for name in ["bounds", "center"] {
            rows[name] = (object[name] as? [Any])?.map(Self.text).joined(separator: ",")
        }
        if !members.isEmpty,
            // Members of JSON texts can be written as JSON again.
            let data = try? JSONSerialization.data(withJSONObject: members, options: [.sortedKeys])
        {
            rows["json"] = String(decoding: data, as: UTF8.self)
        }
        return rows
    }

    private static func text(_ value: Any) -> String {
        if let whole = value as? Int { return "\(whole)" }
        return (value as? Double).map { "\($0)" } ?? "\(value)"
    }

    private static func parse(_ text: [UInt8]) -> [String: Any]? {
        // Callers report a text that is not a JSON object.
        (try? JSONSerialization.jsonObject(with: Data(text))) as? [String: Any]
    }
}
