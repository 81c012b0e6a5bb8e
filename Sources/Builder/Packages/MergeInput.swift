public import Digests
public import Foundation

/// One shard to merge: its location and its expected digest.
public struct MergeInput: Sendable, Hashable {
    /// The file.
    public let url: URL
    /// Its SHA-256; a file with another one is refused.
    public let digest: Digest
    /// The SHA-256 in its footer, where it is known: then a file with another one is refused, and the whole file need
    /// not be read to detect another shard, because its index and each body are checked anyway.
    public let footerDigest: Digest?

    /// Makes an input from its parts.
    public init(url: URL, digest: Digest, footerDigest: Digest? = nil) {
        self.url = url
        self.digest = digest
        self.footerDigest = footerDigest
    }
}

/// The result of a merge.
public struct PackageReceipt: Sendable, Hashable {
    /// SHA-256 of the file.
    public let digest: Digest
    /// Bytes of the file.
    public let size: UInt64
    /// Tiles in it.
    public let tiles: UInt64
    /// Tiles of the mask that do not exist at the origin.
    public let empty: UInt64
    /// Tiles of the mask that no shard mentions; never more than was allowed.
    public let missing: UInt64
    /// Different bodies.
    public let distinct: UInt64
    /// The file's `agg_tiles_hash`.
    public let tilesHash: String
    /// What looks wrong about the tiles, in a sentence; empty for nothing.
    public let remark: String
}
