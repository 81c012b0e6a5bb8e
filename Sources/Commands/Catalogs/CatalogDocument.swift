import Catalog
import Errors
import Foundation

/// `catalog.json`, read and, with a key, proven to be the publisher's.
struct CatalogDocument: Sendable {
    /// The document.
    let index: CatalogIndex
    /// Id of the key whose signature was checked; `nil` when none was asked for.
    let provenKey: String?
    /// Whether there is a signature.
    let isSigned: Bool

    /// Reads document and signature.
    ///
    /// A catalog that changes between the two reads is read again.
    ///
    /// - Parameter key: The publisher's; `nil` checks no signature, only that a signature file names the document.
    /// - Returns: `nil` when there is no `catalog.json`.
    /// - Throws: `CatalogError` `bad-signature`, `catalog-corrupt`; what reading throws.
    static func read(_ source: CatalogSource, key: CatalogPublicKey?) async throws -> CatalogDocument? {
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
                        "Catalog '\(source.name)' is not signed ('\(CatalogIndex.signatureName)' is missing), and a signature is asked for."
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
