/// Where metrics are served.
public enum MetricsAddress: Hashable, Sendable, CustomStringConvertible {
    /// A host, by address or name, and a port; 0 = any free one.
    case tcp(host: String, port: Int)
    /// A Unix socket at a path.
    case unix(path: String)

    /// The longest path of a socket on Linux, in bytes.
    static let longestPath = 107

    /// The address of a text such as `127.0.0.1:9470`, `[::1]:9470` or `unix:/run/packhorse/metrics`; `nil` for any
    /// other text.
    ///
    /// The host is required, so that other machines reach the metrics only when the operator names such an address.
    public init?(_ text: String) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            guard path.hasPrefix("/"), path.utf8.count <= Self.longestPath, !path.utf8.contains(0) else { return nil }
            self = .unix(path: path)
            return
        }
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65_535).contains(port), !text.hasSuffix("+\(port)")
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        let allowed = host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-.:_%".utf8.contains(byte)
            }
        }
        guard !host.isEmpty, allowed else { return nil }
        self = .tcp(host: String(host), port: port)
    }

    /// Whether only this machine reaches it.
    public var isLocal: Bool {
        switch self {
        case .unix: true
        case .tcp(let host, _): host == "localhost" || host == "::1" || host.hasPrefix("127.")
        }
    }

    /// The text that it is made from.
    public var description: String {
        switch self {
        case .unix(let path): "unix:\(path)"
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }
}
