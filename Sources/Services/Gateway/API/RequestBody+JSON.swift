internal import Foundation
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

/// Reads the bodies of requests.
enum JSONBody {
    /// The most bytes of a body.
    static let most = 1 << 20
    /// How deep a document may be nested.
    static let depth = 64

    /// Decodes a body; keys are in snake case.
    ///
    /// - Throws: ``Problem`` `unsupported-media-type`, `too-large`, `body-cut`, `bad-json` naming the member; also for an unknown member.
    static func read<Value: Codable>(
        _ type: Value.Type, _ request: Request, most: Int = most
    ) async throws(Problem) -> Value {
        let media = (request.headers[.contentType] ?? "application/json").prefix { $0 != ";" }.lowercased()
        guard media == "application/json" || media.hasSuffix("+json") else {
            throw Problem(.unsupportedMediaType, "The body has the type '\(media.prefix(60))'.")
        }
        let body = try await request.wholeBody(most, orSay: "The body has more than \(most) bytes.")
        let bytes = Data(body.readableBytesView)
        guard isShallow(bytes) else { throw Problem(.badJSON, "The document is nested deeper than \(depth).") }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let value: Value
        let unknown: String?
        do {
            value = try decoder.decode(type, from: bytes)
            unknown = try unknownMember(of: bytes, read: value)
        } catch { throw Problem(.badJSON, "The body cannot be read: \(place(error, bytes))") }
        if let unknown {
            throw Problem(.badJSON, "There is no member '\(unknown.prefix(100))' in the body of this request.")
        }
        return value
    }

    /// A member that the decoder did not read: one that the value, written again, does not have.
    private static func unknownMember(of bytes: Data, read value: some Encodable) throws -> String? {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let known = try JSONSerialization.jsonObject(with: try encoder.encode(value))
        return unknownMember(of: try JSONSerialization.jsonObject(with: bytes), in: known)
    }

    private static func unknownMember(of given: Any, in known: Any?) -> String? {
        guard let given = given as? [String: Any] else { return nil }
        let known = known as? [String: Any] ?? [:]
        for (name, member) in given.sorted(by: { $0.key < $1.key }) where !(member is NSNull) {
            guard let read = known[name] else { return name }
            if let below = unknownMember(of: member, in: read) { return "\(name).\(below)" }
        }
        return nil
    }

    /// Whether brackets outside of texts are nested at most ``depth`` deep.
    static func isShallow(_ bytes: some Sequence<UInt8>) -> Bool {
        var (level, isText, isEscaped) = (0, false, false)
        for byte in bytes {
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if byte == 0x5C {
                    isEscaped = true
                } else if byte == 0x22 {
                    isText = false
                }
                continue
            }
            switch byte {
            case 0x22: isText = true
            case 0x5B, 0x7B:
                level += 1
                if level > depth { return false }
            case 0x5D, 0x7D: level -= 1
            default: break
            }
        }
        return true
    }

    private static func place(_ error: any Error, _ bytes: Data) -> String {
        func path(_ context: DecodingError.Context) -> String {
            context.codingPath.map(\.stringValue).joined(separator: ".")
        }
        switch error as? DecodingError {
        case .keyNotFound(let key, let context):
            let parent = path(context)
            return "'\(parent.isEmpty ? "" : parent + ".")\(key.stringValue)' is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            let path = path(context)
            return path.isEmpty ? "it is no JSON object" : "'\(path.prefix(100))' has another type than expected"
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            return "'\(path(context).prefix(100))' has a value that is not allowed"
        // Foundation does not name the member.
        case .dataCorrupted where (try? JSONSerialization.jsonObject(with: bytes)) != nil:
            return "a number is negative, too large or has a fraction where that is not allowed"
        default: return "it is no JSON document of the expected form"
        }
    }
}
