package import CatalogFormat
import Foundation

/// The keys of a signed catalog from the command line.
package enum SigningKeyOption {
    /// The secret key of the given file, else of the file in `PACKHORSE_SIGNING_KEY`, else none.
    package static func read(_ file: String?) throws -> CatalogSecretKey? {
        let named = file ?? Variable.value("PACKHORSE_SIGNING_KEY")
        guard let named, !named.isEmpty else { return nil }
        return try CatalogSecretKey(file: URL(filePath: named))
    }

    /// A public key: its text as in a key file, or a file that contains it.
    package static func readPublic(_ text: String?) throws -> CatalogPublicKey? {
        guard let text else { return nil }
        let line = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            .first { !$0.isEmpty && !$0.hasPrefix("#") }
        if let line, line.hasPrefix("ed25519-") { return try CatalogPublicKey(line) }
        return try CatalogPublicKey(file: URL(filePath: text))
    }
}
