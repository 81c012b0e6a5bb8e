public import Foundation
public import Shards

/// A finished package to put into the catalog.
public struct PublishRequest: Sendable {
    /// The package's id: 1...120 characters of letters, digits and `. _ - ( ) ,`, not beginning with a dot.
    public let id: String
    /// The finished file, usually a blob; it stays where it is.
    public let file: URL
    /// SHA-256 of the file.
    public let digest: Digest
    /// Bytes of the file.
    public let size: UInt64
    /// The mask in CARTO's wire form, `text:maxZoom`.
    public let maskWire: String
    /// Name paths by language code: `["en": "Europe/Northern Europe/Estonia"]`.
    public let names: [String: String]
    /// The file's `agg_tiles_hash`.
    public let tilesHash: String

    /// Makes a request from its parts.
    public init(
        id: String, file: URL, digest: Digest, size: UInt64, maskWire: String, names: [String: String],
        tilesHash: String
    ) {
        self.id = id
        self.file = file
        self.digest = digest
        self.size = size
        self.maskWire = maskWire
        self.names = names
        self.tilesHash = tilesHash
    }
}

/// Where a package went.
public struct Published: Sendable, Hashable {
    /// The version clients see.
    public let version: Int32
    /// The file in the catalog.
    public let path: URL
    /// Whether the bytes were those of the version before, so that no new one was made.
    public let unchanged: Bool
}
