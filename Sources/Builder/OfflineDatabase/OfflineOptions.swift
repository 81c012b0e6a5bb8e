public import Foundation
public import Tiles

/// Tiles of one of the style's sources.
public struct OfflineTiles: Sendable {
    /// The merged MBTiles file.
    public let file: URL
    /// The source's name in the style; `nil` for the only source that matches the file's format.
    public let source: String?

    /// Tiles of a file for a source.
    public init(_ file: URL, source: String? = nil) {
        self.file = file
        self.source = source
    }
}

/// How an offline database is written.
public struct OfflineOptions: Sendable {
    /// The address apps use for the style; `nil` for the style pack's own.
    public var styleURL: String?
    /// What `{key}` stands for in the apps' addresses.
    ///
    /// It is written into the database, because clients look everything up by whole addresses.
    public var key: String?
    /// Sources of the style that the database leaves out, with their layers.
    public var without: Set<String> = []
    /// Tiles that are known to be empty at the origin where the first file has none: they are written as empty tiles; a
    /// client draws nothing for them and does not request them.
    ///
    /// The mask of the package, when no tile of it failed.
    public var emptyTiles: TileMask?
    /// When rows were last changed; if a server sent a later time, that is used.
    ///
    /// Unix seconds. A client that has a row already replaces it only by a newer one, so a later version of a package needs a
    /// later date: that of its data. Default: 1 January 2020.
    public var modified: Int64 = 1_577_836_800
    /// Rows expire so many seconds after they were changed; `nil` = never (the year 2096), and then clients do not
    /// revalidate.
    public var expiresAfter: Int64?
    /// 2 for tiles of double density whose template has `{ratio}`.
    public var pixelRatio = 1
    /// What apps read as a region's context or metadata; `nil` for the package's name as JSON.
    ///
    /// A client treats regions with the same definition and description as one region, so do not put a version here.
    public var description: [UInt8]?

    /// The defaults.
    public init() {}

    /// Expiry of rows that never expire: clients count it in nanoseconds, so it is not the largest number there is.
    static let never: Int64 = 4_000_000_000
}
