/// The response headers that matter to tiles and blobs; each value without surrounding white space, the last one wins.
public struct ResponseHeaders: Sendable, Hashable {
    /// `ETag`, quotes and weakness mark included.
    public var etag: String?
    /// `Last-Modified`, as sent.
    public var lastModified: String?
    /// `Content-Type`, as sent.
    public var contentType: String?
    /// `Content-Encoding`, as sent.
    public var contentEncoding: String?
    /// `Retry-After`, as sent.
    public var retryAfter: String?
    /// `Date`, as sent.
    public var date: String?
    /// `Content-Length`, as sent.
    public var contentLength: String?
    /// `Content-Range`, as sent.
    public var contentRange: String?

    /// No headers.
    public init() {}

    /// The longest header line kept; longer ones are ignored.
    static let maxLine = 4_096

    /// Takes one raw header line.
    ///
    /// A status line (redirects and informational answers come first) starts over.
    mutating func take(line: UnsafeRawBufferPointer) {
        guard line.count <= Self.maxLine else { return }
        if line.starts(with: "HTTP/".utf8) {
            self = ResponseHeaders()
            return
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), let field = Self.field(line[..<colon]) else { return }
        var value = line[(colon + 1)...]
        while let first = value.first, Self.isSpace(first) { value.removeFirst() }
        while let last = value.last, Self.isSpace(last) { value.removeLast() }
        self[keyPath: field] = String(decoding: value, as: UTF8.self)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func field(_ name: Slice<UnsafeRawBufferPointer>) -> WritableKeyPath<ResponseHeaders, String?>? {
        guard name.count <= 16 else { return nil }
        switch String(decoding: name, as: UTF8.self).lowercased() {
        case "etag": return \.etag
        case "last-modified": return \.lastModified
        case "content-type": return \.contentType
        case "content-encoding": return \.contentEncoding
        case "retry-after": return \.retryAfter
        case "date": return \.date
        case "content-length": return \.contentLength
        case "content-range": return \.contentRange
        default: return nil
        }
    }
}

extension ResponseHeaders {
    /// Where a 206 answer's body begins in the whole: `bytes 5-9/10` begins at 5.
    var rangeStart: UInt64? {
        guard let value = contentRange?.lowercased(), value.hasPrefix("bytes ") else { return nil }
        return UInt64(value.dropFirst(6).prefix { $0 != "-" })
    }
}
