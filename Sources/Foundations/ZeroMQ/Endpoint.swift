import Errors

/// A parsed ZeroMQ endpoint, as far as needed to know whether it is reachable from other machines.
struct Endpoint {
    let text: String
    let isLocal: Bool
    /// Whether IPv6 must be off, because the host is an IPv4 address.
    let isIPv4: Bool

    /// - Throws: ``ZeroMQError`` `bad-endpoint`.
    init(_ text: String) throws(ZeroMQError) {
        self.text = text
        if text.hasPrefix("inproc://") || text.hasPrefix("ipc://") {
            isLocal = true
            isIPv4 = false
            return
        }
        guard text.hasPrefix("tcp://"), let colon = text.lastIndex(of: ":") else { throw Self.bad(text) }
        let start = text.index(text.startIndex, offsetBy: 6)
        guard start < colon else { throw Self.bad(text) }
        let host = text[start..<colon]
        let port = text[text.index(after: colon)...]
        guard port == "*" || UInt16(port) != nil else { throw Self.bad(text) }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        isIPv4 = numbers.count == 4 && !numbers.contains(nil)
        isLocal = isIPv4 ? numbers.first == 127 : ["localhost", "lo", "[::1]"].contains(host)
    }

    /// Refuses unencrypted connections over a network.
    ///
    /// - Throws: ``ZeroMQError`` `plain-refused`.
    func check(_ security: LinkSecurity, options: LinkOptions, to verb: String) throws(ZeroMQError) {
        guard security.isPlain, !isLocal, !options.allowPlain else { return }
        throw ZeroMQError(
            .plainRefused,
            "'\(text)' is reachable from other machines and no keys are given: refusing to \(verb) without encryption."
                + " Create keys with 'packhorse keygen', or pass --insecure on a network you trust.")
    }

    private static func bad(_ text: String) -> ZeroMQError {
        ZeroMQError(
            .badEndpoint,
            "'\(text.prefix(200))' is not an endpoint; expected e.g. tcp://127.0.0.1:7470 or tcp://*:7470.")
    }
}

extension RouterLink {
    /// Whether an endpoint can be reached only from this machine; `false` for a text that is not an endpoint.
    public static func isLocal(_ endpoint: String) -> Bool { (try? Endpoint(endpoint))?.isLocal ?? false }

    /// Whether the text is an endpoint at which a socket can listen; whether its port is free is not tried.
    public static func canListen(at endpoint: String) -> Bool { (try? Endpoint(endpoint)) != nil }
}

extension DealerLink {
    /// Whether the text is an endpoint to which a socket can connect: it names a host and a port.
    public static func canConnect(to endpoint: String) -> Bool {
        guard (try? Endpoint(endpoint)) != nil else { return false }
        guard endpoint.hasPrefix("tcp://") else { return true }
        let port = endpoint.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
        return port > 0 && !endpoint.hasPrefix("tcp://*:")
    }
}
