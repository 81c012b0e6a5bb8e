internal import Transfer

/// The validators that a server sent with a tile, for conditional requests (RFC 9110, 13.1).
public struct TileValidators: Sendable, Hashable {
    /// The `ETag`, quotes and weakness mark included.
    public let etag: String?
    /// The `Last-Modified`, as sent.
    public let lastModified: String?

    /// The validators that a request can carry: 1 to 512 printable ASCII characters each; `nil` when neither can be sent.
    public init?(etag: String?, lastModified: String?) {
        self.etag = etag.flatMap(Self.sendable)
        self.lastModified = lastModified.flatMap(Self.sendable)
        if self.etag == nil && self.lastModified == nil { return nil }
    }

    /// The longest validator kept; no real one is longer.
    static let longest = 512

    private static func sendable(_ text: String) -> String? {
        let bytes = text.utf8
        guard (1...longest).contains(bytes.count), bytes.allSatisfy({ 0x20...0x7E ~= $0 }) else { return nil }
        return text
    }

    /// Both conditions if both are known: servers that use only one find it, servers that use both are stricter.
    var headers: [HeaderField] {
        [etag.map { HeaderField("If-None-Match", $0) }, lastModified.map { HeaderField("If-Modified-Since", $0) }]
            .compactMap(\.self)
    }

    /// Whether an answer "not modified" is valid: it has no other ETag than the requested one.
    ///
    /// Compared weakly, because a cache may weaken a strong one (RFC 9110, 8.8.3.2).
    func agree(with told: String?) -> Bool {
        guard let etag, let told else { return true }
        return Self.opaque(etag) == Self.opaque(told)
    }

    private static func opaque(_ etag: String) -> Substring { etag.hasPrefix("W/") ? etag.dropFirst(2) : etag[...] }
}
