import Catalog
import Foundation

/// The keys of a signed catalog, as the command line names them.
enum SigningKeyOption {
    /// The secret key in the named file, else in that of `PACKHORSE_SIGNING_KEY`, else none.
    static func read(_ file: String?) throws -> CatalogSecretKey? {
        let named = file ?? Variable.value("PACKHORSE_SIGNING_KEY")
        guard let named, !named.isEmpty else { return nil }
        return try CatalogSecretKey(file: URL(filePath: named))
    }

    /// A public key: its text, as a key file has it, or a file that holds it.
    static func readPublic(_ text: String?) throws -> CatalogPublicKey? {
        guard let text else { return nil }
        let line = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            .first { !$0.isEmpty && !$0.hasPrefix("#") }
        if let line, line.hasPrefix("ed25519-") { return try CatalogPublicKey(line) }
        return try CatalogPublicKey(file: URL(filePath: text))
    }
}
