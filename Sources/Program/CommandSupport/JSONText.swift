import Foundation

/// JSON output of commands: keys sorted and in snake case, slashes not escaped.
package enum JSONText {
    /// One value, over several lines.
    package static func pretty(_ value: some Encodable) throws -> JSONDocument {
        let text = try encode(value, [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted])
        // Line breaks inside texts are already escaped.
        return JSONDocument(lines: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
    }

    /// One value on one line, for streams of values.
    package static func line(_ value: some Encodable) throws -> String {
        try encode(value, [.sortedKeys, .withoutEscapingSlashes])
    }

    private static func encode(_ value: some Encodable, _ formatting: JSONEncoder.OutputFormatting) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

/// A JSON document that is ready to print.
package struct JSONDocument {
    /// Its lines, without line breaks.
    package let lines: [String]
}
