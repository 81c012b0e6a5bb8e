import Yams

extension JSONValue {
    /// Values in one document, aliases counted as often as they are used: 100,000 (a tileset has some dozens).
    private static let maxValues = 100_000
    private static let maxDepth = 64

    /// Parses a YAML document.
    ///
    /// JSON with comments is YAML too.
    ///
    /// - Throws: ``TilesetsError`` `.badSyntax` with the line.
    init(yaml: String, name: String) throws(TilesetsError) {
        let node: Node?
        do {
            node = try Yams.compose(yaml: yaml)
        } catch {
            let text = "\(error)".split(whereSeparator: \.isNewline).first.map(String.init) ?? "not YAML"
            throw TilesetsError(.badSyntax, "Tileset file '\(name)' is not YAML: \(text)")
        }
        guard let node else {
            throw TilesetsError(.badSyntax, "Tileset file '\(name)' is empty; it needs at least 'url'.")
        }
        var left = Self.maxValues
        self = try Self.convert(node, name, depth: 0, left: &left)
    }

    private static func convert(
        _ node: Node, _ name: String, depth: Int, left: inout Int
    ) throws(TilesetsError) -> JSONValue {
        left -= 1
        guard left >= 0, depth < maxDepth else {
            throw TilesetsError(.badSyntax, "Tileset file '\(name)' holds far too many or too deep values.")
        }
        switch node {
        case .scalar(let scalar):
            if node.null != nil { return .null }
            if let value = node.bool { return .bool(value) }
            if let value = node.float { return .number(value) }
            return .string(scalar.string)
        case .sequence(let sequence):
            var values: [JSONValue] = []
            for item in sequence { values.append(try convert(item, name, depth: depth + 1, left: &left)) }
            return .array(values)
        case .mapping(let mapping):
            var values: [String: JSONValue] = [:]
            for (key, value) in mapping {
                guard let key = key.scalar?.string else {
                    throw TilesetsError(.badSyntax, "Tileset file '\(name)' has a key that is not text.")
                }
                values[key] = try convert(value, name, depth: depth + 1, left: &left)
            }
            return .object(values)
        case .alias:
            throw TilesetsError(.badSyntax, "Tileset file '\(name)' has an alias without an anchor.")
        }
    }
}
