internal import CatalogFormat
internal import Digests
internal import Foundation
internal import TextFormats

/// A file that a list of the catalog names.
struct ServedFile: Sendable, Hashable {
    /// Where it lies below the catalog.
    let path: String
    /// Exact bytes.
    let size: UInt64
    /// SHA-256.
    let digest: Digest
    /// The value of Link: the newest version, and the TileJSON of a version; empty for files without them.
    let links: String
    /// The strong tag.
    let tag: EntityTag
    /// The value of Repr-Digest (RFC 9530).
    let reprDigest: String

    /// - Returns: `nil` for an invalid digest, which a decoded catalog does not have.
    init?(path: String, size: Int64, sha256: String, links: String = "") {
        guard size >= 0, let digest = Digest(hex: sha256) else { return nil }
        self.path = path
        self.size = UInt64(size)
        self.digest = digest
        self.links = links
        tag = EntityTag(digest.hex)
        reprDigest = "sha-256=:\(Data(digest.bytes).base64EncodedString()):"
    }

    /// The digest is enough to tell files apart in a table.
    func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// The last part of the path.
    var name: String { String(path.split(separator: "/").last ?? "") }

    /// Media types by extension.
    private static let types = [
        "pmtiles": "application/vnd.pmtiles", "zip": "application/zip", "mbtiles": "application/vnd.sqlite3",
        "db": "application/vnd.sqlite3", "gpkg": "application/geopackage+sqlite3",
    ]
    private static let otherType = "application/octet-stream"

    /// All media types of files.
    static var mediaTypes: [String] { Set(types.values).sorted() + [otherType] }

    /// The media type, by the extension.
    var mediaType: String { Self.types[String(name.split(separator: ".").last ?? "")] ?? Self.otherType }
}
