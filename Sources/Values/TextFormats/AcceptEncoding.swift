/// The value of `Accept-Encoding` (RFC 9110, section 12.5.3).
package enum AcceptEncoding {
    /// Whether a client takes a coding: named with a weight above 0, or covered by `*`.
    ///
    /// A client without the header takes none here: clients that do not know codings send none.
    /// - Parameter coding: In lower case; `gzip` also stands for `x-gzip`.
    package static func takes(_ coding: String, _ header: String?) -> Bool {
        var byStar = false
        for part in (header ?? "").split(separator: ",") {
            let words = part.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard let name = words.first else { continue }
            let isTaken = !words.dropFirst().contains {
                $0.hasPrefix("q=0") && $0.dropFirst(3).allSatisfy { "0.".contains($0) }
            }
            // What is named has priority over what `*` says.
            if name == coding || name == "x-\(coding)" { return isTaken }
            if name == "*" { byStar = isTaken }
        }
        return byStar
    }
}
