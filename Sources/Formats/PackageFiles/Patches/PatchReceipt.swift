public import Digests

/// How two versions of a package differ.
public struct PatchCounts: Sendable, Hashable {
    /// Tiles only the new version has.
    public internal(set) var added: UInt64 = 0
    /// Tiles both have, with other bodies.
    public internal(set) var changed: UInt64 = 0
    /// Tiles only the old version has.
    public internal(set) var removed: UInt64 = 0
    /// Tiles that are equal in both versions.
    public internal(set) var unchanged: UInt64 = 0
    /// Changed tiles that a patch stores as deltas.
    public internal(set) var deltas: UInt64 = 0
    /// Bytes of the bodies of tiles added and changed.
    public internal(set) var bodyBytes: UInt64 = 0
    /// `agg_tiles_hash` of the old version; of a PMTiles archive and of a file of any kind the SHA-256 of the file.
    public internal(set) var before = ""
    /// The same of the new version.
    public internal(set) var after = ""

    /// Whether both versions hold the same tiles.
    public var isEmpty: Bool { added + changed + removed == 0 }
}

/// A patch that was written and verified.
public struct PatchReceipt: Sendable, Hashable {
    /// What it changes.
    public let counts: PatchCounts
    /// SHA-256 of the file.
    public let digest: Digest
    /// Bytes of the file.
    public let size: UInt64
    /// Whether it was proven to give the bytes of the new file, and not only its tiles.
    public let isExact: Bool
}

/// A package that was made by applying a patch.
public struct AppliedPatch: Sendable, Hashable {
    /// SHA-256 of the new file.
    public let digest: Digest
    /// Bytes of the new file.
    public let size: UInt64
    /// Tiles in it; 0 for a file of any kind.
    public let tiles: UInt64
    /// Its `agg_tiles_hash`; `nil` of other files than MBTiles.
    public let tilesHash: String?
}
