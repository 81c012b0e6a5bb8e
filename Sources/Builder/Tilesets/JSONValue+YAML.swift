import Errors
internal import TextFormats
import Yams

extension JSONValue {
    /// Limit of values in one document, with aliases counted as often as they are used: 100,000 (a tileset has some
    /// dozens).
    private static let maxValues = 100_000
    private static let maxDepth = 64

    /// Parses a YAML document.
    ///
    /// Also reads JSON with comments, which is YAML.
    ///
    /// - Parameters:
    ///   - what: What the file is called in errors.
    ///   - asText: Whether scalars stay text: then Norway's `NO` is not read as a boolean.
    /// - Throws: ``TilesetsError`` `.badSyntax` with the line, the column and a remedy.
    package init(yaml: String, name: String, what: String = "Tileset file", asText: Bool = false) throws(TilesetsError)
    {
        let node: Node?
        do {
            node = try Yams.compose(yaml: yaml)
        } catch {
            let problem = YAMLProblem(error, in: yaml)
            throw TilesetsError(.badSyntax, "\(what) '\(name)' is not YAML: \(problem.text).", hint: problem.remedy)
        }
        guard let node else {
            throw TilesetsError(
                .badSyntax, "\(what) '\(name)' is empty\(what == "Tileset file" ? "; it needs at least 'url'." : ".")")
        }
        var left = Self.maxValues
        self = try Self.convert(node, of: "\(what) '\(name)'", asText: asText, depth: 0, left: &left)
    }

    private static func convert(
        _ node: Node, of file: String, asText: Bool, depth: Int, left: inout Int
    ) throws(TilesetsError) -> JSONValue {
        left -= 1
        guard left >= 0, depth < maxDepth else {
            throw TilesetsError(.badSyntax, "\(file) has too many or too deeply nested values.")
        }
        switch node {
        case .scalar(let scalar):
            if node.null != nil { return .null }
            if asText { return .string(scalar.string) }
            if let value = node.bool { return .bool(value) }
            if let value = node.float { return .number(value) }
            return .string(scalar.string)
        case .sequence(let sequence):
            var values: [JSONValue] = []
            for item in sequence {
                values.append(try convert(item, of: file, asText: asText, depth: depth + 1, left: &left))
            }
            return .array(values)
        case .mapping(let mapping):
            var values: [String: JSONValue] = [:]
            for (key, value) in mapping {
                guard let key = key.scalar?.string else {
                    throw TilesetsError(.badSyntax, "\(file) has a key that is not text.")
                }
                values[key] = try convert(value, of: file, asText: asText, depth: depth + 1, left: &left)
            }
            return .object(values)
        case .alias:
            throw TilesetsError(.badSyntax, "\(file) has an alias without an anchor.")
        }
    }
}
