internal import Foundation
internal import Hummingbird

/// Reads the bodies of requests.
enum JSONBody {
    /// The most bytes of a body.
    static let most = 1 << 20
    /// How deep a document may be nested.
    static let depth = 64

    /// Decodes a body; keys are in snake case.
    ///
    /// - Throws: ``Problem`` `unsupported-media-type`, `too-large`, `bad-json` naming the member.
    static func read<Value: Decodable>(
        _ type: Value.Type, _ request: Request, most: Int = most
    ) async throws(Problem) -> Value {
        let media = (request.headers[.contentType] ?? "application/json").prefix { $0 != ";" }.lowercased()
        guard media == "application/json" || media.hasSuffix("+json") else {
            throw Problem(.unsupportedMediaType, "The body has the type '\(media.prefix(60))'.")
        }
        let collected: ByteBuffer?
        // A body that is longer than the limit, and one whose client has gone, have no bytes for us.
        collected = try? await request.body.collect(upTo: most)
        guard let collected else { throw Problem(.tooLarge, "The body has more than \(most) bytes.") }
        let bytes = Array(buffer: collected)
        guard isShallow(bytes) else { throw Problem(.badJSON, "The document is nested deeper than \(depth).") }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        do { return try decoder.decode(type, from: Data(bytes)) } catch {
            throw Problem(.badJSON, "The body cannot be read: \(place(error))")
        }
    }

    /// Whether brackets outside of texts are nested at most ``depth`` deep.
    static func isShallow(_ bytes: [UInt8]) -> Bool {
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

    private static func place(_ error: any Error) -> String {
        func path(_ context: DecodingError.Context) -> String {
            context.codingPath.map(\.stringValue).joined(separator: ".")
        }
        switch error as? DecodingError {
        case .keyNotFound(let key, let context):
            let parent = path(context)
            return "'\(parent.isEmpty ? "" : parent + ".")\(key.stringValue)' is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            return "'\(path(context).prefix(100))' has another type than expected"
        default: return "it is no JSON document of the expected form"
        }
    }
}
