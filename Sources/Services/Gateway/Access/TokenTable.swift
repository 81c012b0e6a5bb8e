internal import Digests
internal import Files
internal import WebRequests

/// The tokens that may be used, as a value.
struct TokenTable: Sendable, Hashable {
    private var entries: [Digest: TokenEntry] = [:]

    init(_ entries: [TokenEntry] = []) { for entry in entries { self.entries[entry.digest] = entry } }

    /// How many tokens there are.
    var count: Int { entries.count }

    /// The entry of a token as the client sends it.
    func find(_ token: String) -> TokenEntry? {
        guard 1...256 ~= token.utf8.count else { return nil }
        return entries[Digest(of: Array(token.utf8))]
    }

    /// Whether the entry is still as it was.
    func has(_ entry: TokenEntry) -> Bool { entries[entry.digest] == entry }
}
