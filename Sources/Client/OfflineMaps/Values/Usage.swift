/// What the store takes on disk, and what it may take; shared bytes are counted once.
public struct Usage: Hashable, Encodable, Sendable {
    /// Whole packages.
    public var packages: UInt64 = 0
    /// Tile packs.
    public var packs: UInt64 = 0
    /// Style packs: their archives, and their files for readers.
    public var styles: UInt64 = 0
    /// Adopted files that lie in the folder of the store.
    public var adopted: UInt64 = 0
    /// Part files.
    public var parts: UInt64 = 0
    /// Previous versions.
    public var previous: UInt64 = 0
    /// The ambient cache, which does not count towards the quota.
    public var ambient: UInt64 = 0
    /// All of these.
    public var total: UInt64 = 0
    /// The quota; `nil` is no limit.
    public var quota: UInt64?
    /// The free space of the disk.
    public var free: UInt64 = 0
    /// Unique tile packs of all regions.
    public var packCount = 0
    /// The most unique tile packs.
    public var packLimit = 0
    /// Tiles that single requests added.
    public var onlineTiles: UInt64 = 0
    /// The most tiles that single requests may add.
    public var onlineTileLimit: UInt64 = 0

    /// Makes a usage of nothing.
    public init() {}
}
