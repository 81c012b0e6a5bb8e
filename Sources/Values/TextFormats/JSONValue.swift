import Errors
import Foundation

/// A JSON value, or a YAML value reduced to JSON, for documents of others that are read.
///
/// Documents of this program are `Codable` types, and messages have their JSON from packhorse.proto. Every number here is a
/// `Double`: metadata of other programs that are written again go through `JSONSerialization`, which keeps their integers.
/// GeoJSON, with its long lists of numbers, has a reader of its own (`JSONText` of Tiles).
package enum JSONValue: Sendable, Hashable, Codable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// Parses a JSON document; `nil` when it is not one.
    package init?(json: [UInt8]) {
        // The parser's error is not used: callers say what the document is.
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(json)) else { return nil }
        self = value
    }

    package init(from decoder: any Decoder) throws {
        let one = try decoder.singleValueContainer()
        // A value of another type; the next attempt reads it.
        func decoded<Value: Decodable>(_ type: Value.Type) -> Value? { try? one.decode(type) }
        if one.decodeNil() {
            self = .null
        } else if let value = decoded(Bool.self) {
            self = .bool(value)
        } else if let value = decoded(Double.self) {
            self = .number(value)
        } else if let value = decoded(String.self) {
            self = .string(value)
        } else if let value = decoded([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try one.decode([String: JSONValue].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var one = encoder.singleValueContainer()
        switch self {
        case .null: try one.encodeNil()
        case .bool(let value): try one.encode(value)
        case .number(let value): try one.encode(value)
        case .string(let value): try one.encode(value)
        case .array(let value): try one.encode(value)
        case .object(let value): try one.encode(value)
        }
    }

    /// The word for the kind of value, for error texts.
    package var kind: String {
        switch self {
        case .null: "nothing"
        case .bool: "true or false"
        case .number: "a number"
        case .string: "text"
        case .array: "a list"
        case .object: "a mapping"
        }
    }
}
