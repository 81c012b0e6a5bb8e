internal import Synchronization

/// The token of a catalog that its server shows with a token only; a later call that opens the same folder may bring another one.
final class CatalogToken: Sendable {
    private let text: Mutex<String?>

    /// - Throws: `invalid-arguments` for a token that no header can have.
    init(_ text: String?) throws(StoreError) {
        if let text { try Self.check(text) }
        self.text = Mutex(text)
    }

    var current: String? { text.withLock { $0 } }

    /// - Throws: As `init`; then the former token stays.
    func replace(with new: String) throws(StoreError) {
        try Self.check(new)
        text.withLock { $0 = new }
    }

    private static func check(_ text: String) throws(StoreError) {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw StoreError(
                .invalidArguments, "The token is empty, or has a space or another character that no token has.",
                advice: "Give the line that 'packhorse keygen' printed: ph_ and what follows.")
        }
    }
}
