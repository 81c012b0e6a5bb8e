/// The header Content-Encoding (RFC 9110, 8.4), as servers send it.
package enum ContentCodings {
    /// Words that change nothing: `identity`, and what servers write there by mistake, character sets and encodings of mail.
    private static let without: Set<String> = [
        "identity", "none", "utf-8", "utf8", "utf-16", "us-ascii", "ascii", "iso-8859-1", "latin1", "binary", "7bit",
        "8bit", "application/octet-stream",
    ]

    /// The codings that a body has, in the order in which they were applied, lower case: `gzip, identity` is `gzip`.
    package static func named(_ header: String?) -> [String] {
        guard let header else { return [] }
        return header.split(separator: ",").map { $0.lowercased().filter { !$0.isWhitespace && $0 != "\"" } }
            .filter { !$0.isEmpty && !without.contains($0) }.map { $0 == "x-gzip" ? "gzip" : $0 }
    }
}
