import Catalog
package import CatalogFormat
import Errors
import Foundation

/// `catalog.json`, read and, with a key, verified.
package struct CatalogDocument: Sendable {
    /// The document.
    package let index: CatalogIndex
    /// Id of the key whose signature was checked; `nil` when no key was given.
    package let provenKey: String?
    /// Whether a signature file exists.
    package let isSigned: Bool

    /// Reads document and signature.
    ///
    /// A catalog that changes between the two reads is read again.
    ///
    /// - Parameter key: The publisher's key. `nil` checks only that an existing signature file names the document.
    /// - Returns: `nil` when `catalog.json` does not exist.
    /// - Throws: `CatalogError` `bad-signature`, `catalog-corrupt`; read errors.
    package static func read(_ source: CatalogSource, key: CatalogPublicKey?) async throws -> CatalogDocument? {
        for attempt in 1... {
            guard let bytes = try await source.read(CatalogIndex.fileName) else { return nil }
            let found = try await source.read(CatalogIndex.signatureName)
            let signature = try found.map { bytes throws(CatalogError) in try CatalogSignature(decoding: bytes) }
            if let signature, !signature.names(bytes), attempt < 3 {
                try await Task.sleep(for: .milliseconds(500))
                continue
            }
            if let key {
                guard let signature else {
                    throw CatalogError(
                        .badSignature,
                        "Catalog '\(source.name)' is not signed ('\(CatalogIndex.signatureName)' is missing), but a signature is required."
                    )
                }
                try signature.check(bytes, by: key)
            } else if let signature, !signature.names(bytes) {
                throw CatalogError(
                    .badSignature, "'\(CatalogIndex.signatureName)' of catalog '\(source.name)' signs another document."
                )
            }
            return CatalogDocument(
                index: try CatalogIndex(decoding: bytes), provenKey: key?.id, isSigned: signature != nil)
        }
        return nil
    }
}
