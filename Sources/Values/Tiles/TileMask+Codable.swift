internal import Errors
internal import Foundation

extension TileMask: Codable {
    /// Reads what ``encoded()`` wrote, as data, and refuses every other content.
    public init(from decoder: any Decoder) throws {
        let bytes = try decoder.singleValueContainer().decode(Data.self)
        do {
            try self.init(decoding: bytes)
        } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: error.message, underlyingError: error))
        }
    }

    /// Writes ``encoded()`` as data: base64 in JSON.
    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(Data(encoded()))
    }
}
