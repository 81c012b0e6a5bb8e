/// Resolves an address in a style; placeholders in braces are kept.
///
/// - Source: RFC 3986, sections 5.2.2–5.2.4 and appendix B, on text: nothing is decoded or encoded.
public enum URLReference {
    /// The longest address taken.
    ///
    /// Unit: bytes.
    static let limit = 4_096

    /// The absolute http or https URL a reference means, without its fragment.
    ///
    /// - Parameter base: The absolute URL of the document that holds it; `nil` when it has none.
    /// - Throws: ``StylesError`` `bad-url`: another scheme, a control character or space, no base for a relative
    ///   reference, too long.
    public static func resolve(_ reference: String, against base: String?) throws(StylesError) -> String {
        guard reference.utf8.count <= limit else {
            throw StylesError(.badURL, "An address has \(reference.utf8.count) bytes; the limit is \(limit).")
        }
        guard !reference.isEmpty, reference.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }) else {
            throw StylesError(.badURL, "'\(shown(reference))' is not an address: it is empty or contains white space.")
        }
        let text = String(reference.prefix { $0 != "#" })
        if let scheme = scheme(of: text) {
            guard scheme == "http" || scheme == "https" else {
                throw StylesError(
                    .badURL, "'\(shown(reference))' cannot be fetched: \(remedy(scheme))")
            }
            return text
        }
        guard let base, let parts = Parts(base) else {
            throw StylesError(
                .badURL,
                "'\(shown(reference))' is relative, and the style has no http address; pass --style-url, or write it out."
            )
        }
        if text.hasPrefix("//") { return "\(parts.scheme):\(text)" }
        let (path, query) = split(text)
        if path.isEmpty { return parts.root + parts.path + (query ?? parts.query ?? "") }
        if path.hasPrefix("/") { return parts.root + withoutDots(path) + (query ?? "") }
        let folder = parts.path.lastIndex(of: "/").map { parts.path[...$0] } ?? "/"
        return parts.root + withoutDots(folder + path) + (query ?? "")
    }

    /// Puts text between the end of an URL's path and its query: how sprites are named.
    public static func append(_ suffix: String, toPathOf url: String) -> String {
        let (path, query) = split(url)
        return path + suffix + (query ?? "")
    }

    /// The lower-case scheme, when the text has one: letters, then ':' before any '/', '?' or brace.
    package static func scheme(of text: String) -> String? {
        guard let colon = text.firstIndex(of: ":"), let first = text.first, first.isASCII, first.isLetter else {
            return nil
        }
        let name = text[..<colon]
        guard name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }) else { return nil }
        return name.lowercased()
    }

    /// `host[:port]` of an absolute URL, lower case.
    package static func authority(of url: String) -> String? { Parts(url)?.authority.lowercased() }

    private static func remedy(_ scheme: String) -> String {
        switch scheme {
        case "mapbox":
            "mapbox:// resources need Mapbox's own clients, and its terms forbid redistribution."
        case "file", "asset", "mbtiles", "pmtiles":
            "\(scheme): refers to the device itself; a style pack contains only http resources."
        default: "only http and https are supported."
        }
    }

    private struct Parts {
        let scheme, authority, path: String
        let query: String?
        var root: String { "\(scheme)://\(authority)" }

        init?(_ url: String) {
            guard let mark = url.firstRange(of: "://"), let scheme = URLReference.scheme(of: url),
                url[..<mark.lowerBound].count == scheme.count
            else { return nil }
            let rest = url[mark.upperBound...].prefix { $0 != "#" }
            let authority = rest.prefix { !"/?\\".contains($0) }
            let (path, query) = URLReference.split(String(rest[authority.endIndex...]))
            self.scheme = scheme
            self.authority = String(authority)
            self.path = path.isEmpty ? "/" : path
            self.query = query
        }
    }

    /// Path, and query with its question mark.
    private static func split(_ text: String) -> (path: String, query: String?) {
        guard let mark = text.firstIndex(of: "?") else { return (text, nil) }
        return (String(text[..<mark]), String(text[mark...]))
    }

    private static func withoutDots(_ path: some StringProtocol) -> String {
        var kept: [String] = []
        // Bytes and not characters: with a combining mark after it, a slash is another character.
        let segments = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
            .map { String(decoding: $0, as: UTF8.self) }
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                if !kept.isEmpty { kept.removeLast() }
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/")
    }

    package static func shown(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.prefix(120).filter { $0.value >= 0x20 && $0.value != 0x7F }))
    }
}
