import Catalog
import Foundation

/// The keys of a signed catalog, as the command line names them.
enum SigningKeyOption {
    /// The secret key in the named file, else in that of `PACKHORSE_SIGNING_KEY`, else none.
    static func read(_ file: String?) throws -> CatalogSecretKey? {
        let named = file ?? ProcessInfo.processInfo.environment["PACKHORSE_SIGNING_KEY"]
        guard let named, !named.isEmpty else { return nil }
        return try CatalogSecretKey(file: URL(filePath: named))
    }

    /// A public key: its text, or a file that holds it.
    static func readPublic(_ text: String?) throws -> CatalogPublicKey? {
        guard let text else { return nil }
        if text.hasPrefix("ed25519-") { return try CatalogPublicKey(text) }
        return try CatalogPublicKey(file: URL(filePath: text))
    }
}
