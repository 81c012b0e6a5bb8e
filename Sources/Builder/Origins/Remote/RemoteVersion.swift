internal import Digests
internal import Files
import PMTiles
import Transfer

/// The version of a file on a web server: its validators (RFC 9110, 8.8) and its length.
struct RemoteVersion: Sendable {
    /// As sent, with its mark of weakness.
    let etag: String?
    /// As sent; used if there is no ETag.
    let lastModified: String?
    /// Bytes of the whole file.
    let length: UInt64
    /// Part of the SHA-256 of the first 16 KiB; used if the server sends no validators.
    private let head: String

    /// Names the file among those of a source whose address changes; `nil` for other sources.
    ///
    /// A validator says something about one address alone (RFC 9110, 8.8.3), and jobs over several of them are compared.
    private let place: String?

    /// Reads the version from an answer with the first bytes; `nil` if it has no length.
    init?(_ headers: ResponseHeaders, head: [UInt8], place: String?) {
        guard let length = headers.rangeTotal else { return nil }
        self.length = length
        self.place = place
        etag = Self.short(headers.etag)
        lastModified = etag == nil ? Self.short(headers.lastModified) : nil
        self.head = String(Digest(of: head).hex.prefix(16))
    }

    /// The version that a plan was made for; `nil` if not every single answer proves that it has this version.
    init?(_ planned: RangePlan.Archive, place: String?) {
        length = planned.length
        self.place = place
        etag = Self.short(planned.etag.isEmpty ? nil : planned.etag)
        lastModified = etag == nil ? Self.short(planned.lastModified.isEmpty ? nil : planned.lastModified) : nil
        head = String(Digest(of: planned.head).hex.prefix(16))
        guard hasValidator, planned.head.count == Int(min(RemoteFile.headSize, length)) else { return nil }
    }

    /// Whether every single answer proves that it has this version.
    var hasValidator: Bool { etag != nil || lastModified != nil }

    /// A text for people and for comparison; equal on every machine for the same version.
    var text: String { place.map { "\(ofFile), build \($0)" } ?? ofFile }

    private var ofFile: String {
        if let etag { return "\(length) bytes with ETag \(Self.opaque(etag))" }
        if let lastModified { return "\(length) bytes of \(lastModified) (\(head))" }
        return "\(length) bytes (\(head))"
    }

    /// A short ETag made by Packhorse for all tiles of this version; `nil` if another version could have the same text.
    var tag: String? {
        guard hasValidator else { return nil }
        return "\"archive-\(Digest(of: Array(text.utf8)).hex.prefix(16))\""
    }

    /// Lets a server refuse a request for another version; a weak ETag may not be used for this (RFC 9110, 13.1.1).
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
