internal import Errors
internal import Foundation

/// How the documents of a catalog are written.
package enum CatalogJSON {
    /// JSON with sorted keys, so that equal values are equal bytes.
    package static func encode(_ value: some Encodable, named name: String) throws(CatalogError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        do { return [UInt8](try encoder.encode(value)) + [0x0A] } catch {
            throw CatalogError(.corrupt, "'\(name)' cannot be written as JSON: \(error)", cause: error)
        }
    }
}
