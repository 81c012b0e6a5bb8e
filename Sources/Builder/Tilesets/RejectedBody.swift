import Errors
internal import TextFormats

/// A body that stands for something else than a tile: "no map here", "too many requests".
public struct RejectedBody: Sendable, Hashable, Codable {
    /// What it stands for.
    public enum Meaning: String, Sendable, Hashable, Codable, CaseIterable {
        /// There is no such tile.
        case empty
        /// The server refuses the tile.
        case refused
    }

    /// SHA-256 of the body as packages store it: 64 hexadecimal digits in lower case.
    public let sha256: String
    /// What it stands for.
    public let means: Meaning

    /// The most bodies of a tileset.
    static let limit = 256

    /// Reads the key `reject`.
    ///
    /// - Throws: ``TilesetsError`` naming the item.
    static func list(_ value: JSONValue?, _ reader: FieldReader) throws(TilesetsError) -> [RejectedBody]? {
        guard let value else { return nil }
        let items = if case .array(let items) = value { items } else { [value] }
        var bodies: [RejectedBody] = []
        for item in items {
            switch item {
            case .string(let digest): bodies.append(RejectedBody(sha256: digest.lowercased(), means: .empty))
            case .object:
                let inner = try FieldReader(item, name: reader.name, path: "reject", known: ["sha256", "means"])
                let word = try inner.text("means") ?? Meaning.empty.rawValue
                guard let digest = try inner.text("sha256"), let means = Meaning(rawValue: word) else {
                    throw reader.wrong(
                        "reject", value: item,
                        expected: "mappings such as {sha256: 3f2a…, means: empty} or means: refused")
                }
                bodies.append(RejectedBody(sha256: digest.lowercased(), means: means))
            // YAML takes digits without letters for a number.
            default: throw reader.wrong("reject", value: item, expected: "digests of 64 hexadecimal digits, in quotes")
            }
        }
        guard !bodies.isEmpty else { return nil }
        let sorted = bodies.sorted { $0.sha256 < $1.sha256 }
        try check(sorted, nil)
        return sorted
    }

    /// - Throws: ``TilesetsError`` for texts that are not digests, digests that are there twice, and a list that is too long or not sorted.
    static func check(_ bodies: [RejectedBody], _ id: String?) throws(TilesetsError) {
        let place = id.map { "Tileset '\($0)': " } ?? ""
        let digits = Set("0123456789abcdef")
        if let wrong = bodies.first(where: { $0.sha256.utf8.count != 64 || !$0.sha256.allSatisfy(digits.contains) }) {
            throw TilesetsError(
                .badValue, "\(place)reject: '\(wrong.sha256.prefix(80))' is no SHA-256; expected 64 hexadecimal digits."
            )
        }
        for (one, next) in zip(bodies, bodies.dropFirst()) where one.sha256 >= next.sha256 {
            throw TilesetsError(.badValue, "\(place)reject: \(one.sha256) is there twice, or the list is not sorted.")
        }
        guard bodies.count <= limit else {
            throw TilesetsError(.badValue, "\(place)reject has \(bodies.count) digests; at most \(limit) are possible.")
        }
    }
}
