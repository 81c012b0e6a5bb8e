internal import Foundation

/// The host of a URL to which a connection would be made, also for obfuscated text.
package struct URLHost {
    package let scheme: String
    /// Lower case, percent-decoded, compatibility-normalised, without trailing dots, port and brackets.
    package let name: String
    /// Whether the text is a plain way to write that host: no user information, escapes, or odd characters.
    package let isPlain: Bool
    package let hasUserInfo: Bool

    /// `nil` when the text has no http or https scheme.
    package init?(_ text: String) {
        let trimmed = text.drop { $0.isWhitespace || $0.isNewline }
        guard let mark = trimmed.firstRange(of: ":") else { return nil }
        scheme = trimmed[..<mark.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let slashes = trimmed[mark.upperBound...].prefix { $0 == "/" || $0 == "\\" }
        let authority = trimmed[slashes.endIndex...].prefix { !"/?#\\".contains($0) }
        hasUserInfo = authority.contains("@")
        var host =
            authority.lastIndex(of: "@").map { String(authority[authority.index(after: $0)...]) } ?? String(authority)
        let isBracketed = host.hasPrefix("[")
        if isBracketed {
            host = String(host.dropFirst().prefix { $0 != "]" })
        } else if let colon = host.firstIndex(of: ":") {
            host = String(host[..<colon])
        }
        let raw = host
        // Decodes twice: a host that is escaped twice is invalid, but a careless reader may still accept it.
        for _ in 0..<2 { host = host.removingPercentEncoding ?? host }
        host = host.precomposedStringWithCompatibilityMapping.lowercased()
        host = String(host.map { "\u{3002}\u{FF0E}\u{FF61}".contains($0) ? "." : $0 })
        host.unicodeScalars.removeAll { $0.properties.isDefaultIgnorableCodePoint || $0.value <= 0x20 }
        while host.hasSuffix(".") { host.removeLast() }
        name = host
        let allowed = isBracketed ? "abcdef0123456789:.%" : "abcdefghijklmnopqrstuvwxyz0123456789-_."
        isPlain =
            String(slashes) == "//" && !hasUserInfo && !host.isEmpty && !host.hasPrefix(".")
            && raw.lowercased().allSatisfy { allowed.contains($0) } && text.first == trimmed.first
    }

    /// Whether the host is on this machine or a private network; then no contact is needed.
    package var isPrivate: Bool {
        if name == "localhost" || name.hasSuffix(".localhost") || name.hasSuffix(".local")
            || name.hasSuffix(".internal")
        {
            return true
        }
        guard let address = IPAddress(name) else { return !name.contains { $0 == "." || $0 == ":" } }
        return address.isPrivate
    }
}
