internal import Errors
internal import Foundation
internal import TextFormats

extension JSONValue {
    /// The value as JSON with sorted keys and no white space.
    ///
    /// - Throws: ``TilesetsError`` `.badValue` for numbers that JSON cannot hold.
    func canonicalText() throws(TilesetsError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        } catch {
            throw TilesetsError(.badValue, "A number in the tileset is not finite; write it in digits.")
        }
    }
}
