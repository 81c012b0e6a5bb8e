internal import TextFormats

/// The response headers that are used for tiles and blobs.
///
/// Values have no surrounding white space; of repeated headers the last one counts.
public struct ResponseHeaders: Sendable, Hashable {
    /// `ETag`, including quotes and weakness mark.
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
    /// `Cache-Control`, as sent.
    public var cacheControl: String?
    /// `Expires`, as sent.
    public var expires: String?

    /// No headers.
    public init() {}

    /// The longest header line that is kept.
    ///
    /// Longer ones are ignored.
    static let maxLine = 4_096

    /// Adds one raw header line.
    ///
    /// A status line starts over, because redirects and informational answers come first.
    mutating func add(line: UnsafeRawBufferPointer) {
        guard line.count <= Self.maxLine else { return }
        if line.starts(with: "HTTP/".utf8) {
            self = ResponseHeaders()
            return
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), let field = Field(line[..<colon]) else { return }
        var value = line[(colon + 1)...]
        while let first = value.first, Self.isSpace(first) { value.removeFirst() }
        while let last = value.last, Self.isSpace(last) { value.removeLast() }
        set(field, String(decoding: value, as: UTF8.self))
    }

    private mutating func set(_ field: Field, _ value: String) {
        switch field {
        case .etag: etag = value
        case .lastModified: lastModified = value
        case .contentType: contentType = value
        case .contentEncoding: contentEncoding = value
        case .retryAfter: retryAfter = value
        case .date: date = value
        case .contentLength: contentLength = value
        case .contentRange: contentRange = value
        case .cacheControl: cacheControl = value
        case .expires: expires = value
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// A header that is kept.
    ///
    /// Compared as bytes: each tile has ten lines, and creating a string for each would cost more than curl's own work
    /// on them.
    private enum Field: CaseIterable {
        case etag, date, expires, retryAfter, contentType, lastModified, contentRange, cacheControl, contentLength
        case contentEncoding

        private var name: StaticString {
            switch self {
            case .etag: "etag"
            case .date: "date"
            case .retryAfter: "retry-after"
            case .contentType: "content-type"
            case .lastModified: "last-modified"
            case .contentRange: "content-range"
            case .cacheControl: "cache-control"
            case .expires: "expires"
            case .contentLength: "content-length"
            case .contentEncoding: "content-encoding"
            }
        }

        init?(_ bytes: Slice<UnsafeRawBufferPointer>) {
            guard let found = Self.allCases.first(where: { $0.isNamed(bytes) }) else { return nil }
            self = found
        }

        /// Compares without regard to letter case.
        ///
        /// A hyphen already has the bit that makes letters lower-case.
        private func isNamed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
            let name = name
            guard bytes.count == name.utf8CodeUnitCount else { return false }
            return name.withUTF8Buffer { letters in zip(letters, bytes).allSatisfy { $0 == $1 | 0x20 } }
        }
    }
}

extension ResponseHeaders {
    /// The media type in lower case, without parameters; `nil` without a usable one.
    public var mediaType: String? {
        let type = (contentType ?? "").prefix { $0 != ";" }.lowercased().filter { !$0.isWhitespace }
        return (1...80).contains(type.utf8.count) && type.utf8.allSatisfy { 0x21...0x7E ~= $0 } ? type : nil
    }

    /// The codings of the body in the order in which they were applied, without words that change nothing: `gzip`.
    public var codings: [String] { ContentCodings.named(contentEncoding) }

    /// The length of the complete representation of a 206 answer: 10 in `bytes 5-9/10`; `nil` when it is not given.
    public var rangeTotal: UInt64? {
        guard let value = contentRange?.lowercased(), value.hasPrefix("bytes "),
            let slash = value.lastIndex(of: "/")
        else { return nil }
        return UInt64(value[value.index(after: slash)...])
    }

    /// The offset of a 206 answer's body in the complete representation: 5 in `bytes 5-9/10`.
    var rangeStart: UInt64? {
        guard let value = contentRange?.lowercased(), value.hasPrefix("bytes ") else { return nil }
        return UInt64(value.dropFirst(6).prefix { $0 != "-" })
    }
}
