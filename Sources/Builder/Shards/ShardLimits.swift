/// The sizes a shard keeps to.
///
/// A reader refuses larger values before it allocates memory for them.
public enum ShardLimits {
    /// Bytes of one body: 16 MiB, twenty times the largest tile seen in practice.
    public static let body = 16 << 20
    /// Tiles in one shard, stored and empty: 2^20.
    ///
    /// A batch holds about 5,500.
    public static let tiles = 1 << 20
    /// Bytes of an ETag or a Last-Modified that are kept; a longer one is left out.
    public static let text = 1_024
    /// Bytes of the tileset's id.
    public static let tileset = 255
    /// Bytes of bodies after which a group is closed: 64 KiB, one LZ4 block.
    ///
    /// Small, because a merge reads single bodies in a different order than they were written; the frame around a group
    /// costs 31 bytes, 0.05 %.
    static let group = 64 << 10
    /// Bytes of an index before compression: 2^20 tiles and bodies of 64 bytes each, and texts.
    static let index = 160 << 20
}
