/// How much the store may hold.
public struct Quota: Hashable, Codable, Sendable {
    /// The most bytes of files, packs and part files; `nil` is no limit.
    public var bytes: UInt64?
    /// The share of ``bytes`` from which packs of no region, previous versions and unused part files are removed.
    public var evictFrom = 0.5
    /// The most bytes of the ambient cache, which do not count towards ``bytes``; 0 turns the cache off.
    public var ambientBytes: UInt64 = 50 << 20
    /// The most unique tile packs of all regions.
    public var tilePacks = 750
    /// The most tiles that single requests may add.
    public var onlineTiles: UInt64 = 6_000
    /// How many previous versions of a file are kept for a rollback, 0...2.
    public var previousVersions = 0

    /// Makes the default limits: no limit of bytes, 750 packs, 6,000 single tiles.
    public init() {}

    /// The number of bytes from which the store evicts; `nil` without a limit.
    public var evictionStart: UInt64? {
        bytes.map { UInt64(Double($0) * Swift.max(0, Swift.min(1, evictFrom))) }
    }
}

/// A limit that a call or a task would exceed.
public enum Limit: Hashable, Codable, Sendable {
    /// Unique tile packs.
    case tilePacks(needed: Int, allowed: Int)
    /// Tiles that single requests add.
    case onlineTiles(needed: UInt64, allowed: UInt64)
    /// Bytes on disk.
    case quota(needed: UInt64, allowed: UInt64)
}
