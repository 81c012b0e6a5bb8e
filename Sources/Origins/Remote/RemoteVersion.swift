internal import Crypto
import Transfer

/// Which version of a file a web server has: what its answers say of it (RFC 9110, 8.8), and the file's length.
struct RemoteVersion: Sendable {
    /// As sent, with its mark of weakness.
    let etag: String?
    /// As sent; looked at where there is no ETag.
    let lastModified: String?
    /// Bytes of the whole file.
    let length: UInt64
    /// SHA-256 of the first 16 KiB, in part: where the server tells nothing else.
    private let head: String

    /// What an answer with the first bytes says; `nil` when it does not tell the length.
    init?(_ headers: ResponseHeaders, head: [UInt8]) {
        guard let length = headers.rangeTotal else { return nil }
        self.length = length
        etag = Self.short(headers.etag)
        lastModified = etag == nil ? Self.short(headers.lastModified) : nil
        let digest = SHA256.hash(data: head).prefix(8)
        self.head = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Whether every answer tells by itself that it is of this version.
    var hasValidator: Bool { etag != nil || lastModified != nil }

    /// The same text for the same version on every machine; for people, and to be compared.
    var text: String {
        if let etag { return "\(length) bytes with ETag \(Self.opaque(etag))" }
        if let lastModified { return "\(length) bytes of \(lastModified) (\(head))" }
        return "\(length) bytes (\(head))"
    }

    /// A short ETag of ours for everything that comes from this version; `nil` where another version could look the same.
    var tag: String? {
        guard hasValidator else { return nil }
        let digest = SHA256.hash(data: Array(text.utf8)).prefix(8)
        return "\"archive-\(digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())\""
    }

    /// Lets a server refuse a request for another version; a weak ETag may not be used so (RFC 9110, 13.1.1).
    var conditions: [HeaderField] {
        if let etag { return etag.hasPrefix("W/") ? [] : [HeaderField("If-Match", etag)] }
        return lastModified.map { [HeaderField("If-Unmodified-Since", $0)] } ?? []
    }

    /// Whether an answer can be of this version.
    func agrees(with headers: ResponseHeaders) -> Bool {
        guard headers.rangeTotal == length else { return false }
        if let etag { return headers.etag.map(Self.opaque) == Self.opaque(etag) }
        if let lastModified { return headers.lastModified == lastModified }
        return true
    }

    private static func opaque(_ etag: String) -> Substring { etag.hasPrefix("W/") ? etag.dropFirst(2) : etag[...] }

    /// What can be sent back: one line of printable ASCII, as every real validator is; short enough for ``text`` to fit into a message.
    private static func short(_ text: String?) -> String? {
        text.flatMap { $0.utf8.count <= 400 && $0.utf8.allSatisfy { 0x20...0x7E ~= $0 } ? $0 : nil }
    }
}
