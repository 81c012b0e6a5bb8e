public import Digests
public import Tiles

/// One tile of a shard, from its index.
public struct ShardEntry: Hashable, Sendable {
    /// The tile.
    public let tile: TileID
    /// Which body it has; `nil` if the origin answered that the tile does not exist (*empty*).
    public let body: ShardBody?
    /// The origin's ETag, unless it was absent or longer than ``ShardLimits/text``.
    public let etag: String?
    /// The origin's Last-Modified, likewise.
    public let lastModified: String?
}

/// Where one distinct body lies in a shard.
public struct ShardBody: Hashable, Sendable {
    /// Its place among the shard's distinct bodies, from 0 in file order.
    public let number: Int
    /// SHA-256 of its bytes.
    public let digest: Digest
    /// The group that holds it.
    public let group: Int
    /// Bytes before it in its group, after decompression.
    public let offset: Int
    /// Its bytes: 1...``ShardLimits/body``.
    public let length: Int
}

/// Some tiles of a shard, and where its bodies lie: what is needed to read them without reading the index again.
public struct ShardTable: Sendable {
    /// Tiles, ascending by tile.
    public let entries: [ShardEntry]
    let groups: [ShardGroup]
}

/// One LZ4 frame of bodies laid end to end.
struct ShardGroup: Hashable {
    let position: UInt64
    let stored: Int
    let size: Int
}
