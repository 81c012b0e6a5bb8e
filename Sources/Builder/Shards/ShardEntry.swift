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
///
/// 48 bytes, because a merge holds many of them; the limits of the format fit four bytes each.
public struct ShardBody: Hashable, Sendable {
    /// SHA-256 of its bytes.
    public let digest: Digest
    private let storedNumber: UInt32
    private let storedGroup: UInt32
    private let storedOffset: UInt32
    private let storedLength: UInt32

    /// Takes numbers that the decoder of the index has checked.
    init(number: Int, digest: Digest, group: Int, offset: Int, length: Int) {
        self.digest = digest
        (storedNumber, storedGroup) = (UInt32(clamping: number), UInt32(clamping: group))
        (storedOffset, storedLength) = (UInt32(clamping: offset), UInt32(clamping: length))
    }

    /// Its place among the shard's distinct bodies, from 0 in file order.
    public var number: Int { Int(storedNumber) }
    /// The group that holds it.
    public var group: Int { Int(storedGroup) }
    /// Bytes before it in its group, after decompression.
    public var offset: Int { Int(storedOffset) }
    /// Its bytes: 1...``ShardLimits/body``.
    public var length: Int { Int(storedLength) }
}

/// One LZ4 frame of bodies laid end to end.
struct ShardGroup: Hashable {
    let position: UInt64
    let stored: Int
    let size: Int
}
