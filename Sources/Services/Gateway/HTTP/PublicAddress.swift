internal import HTTPTypes
internal import HummingbirdCore

/// The address under which a client reaches this server, for addresses in documents.
enum PublicAddress {
    /// `http://HOST`, without a slash at the end.
    ///
    /// - Parameters:
    ///   - fixed: What the operator set.
    ///   - isTrusted: Whether the request came from a proxy whose `X-Forwarded-` headers count.
    ///   - fallback: The host for a request whose own cannot be part of an address.
    static func base(fixed: String?, _ request: Request, isTrusted: Bool, fallback: String) -> String {
        if let fixed { return fixed.hasSuffix("/") ? String(fixed.dropLast()) : fixed }
        var (scheme, host) = ("http", request.head.authority ?? "")
        if isTrusted {
            if last(request.headers.value(.xForwardedProto))?.lowercased() == "https" { scheme = "https" }
            host = last(request.headers.value(.xForwardedHost)) ?? host
        }
        return "\(scheme)://\(isHost(host) ? host : fallback)"
    }

    /// The value that the nearest proxy wrote.
    private static func last(_ header: String?) -> String? {
        header?.split(separator: ",").last.map { String($0.filter { $0 != " " && $0 != "\t" }) }
    }

    /// Whether a text is a host, with a port or without, that needs no escaping.
    static func isHost(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || ".-_:[]".utf8.contains(byte)
            }
    }
}
