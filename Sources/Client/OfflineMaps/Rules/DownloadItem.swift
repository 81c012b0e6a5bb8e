internal import Foundation
internal import StyleFormat

/// The name of something that is installed as one file: a package, a style, or a tile pack.
struct InstalledFileKey: Hashable, Codable, Comparable, Sendable {
    var name: String
    /// Packs are shared by regions, are evicted, and have no previous versions.
    var isPack: Bool

    static func < (left: InstalledFileKey, right: InstalledFileKey) -> Bool { left.name < right.name }
}

/// One version of a file: its folder or pack file.
struct FileID: Hashable, Codable, Comparable, Sendable {
    var key: InstalledFileKey
    var version: Int32
    /// SHA-256, which also names the part file.
    var digest: String

    static func < (left: FileID, right: FileID) -> Bool {
        (left.key, left.version, left.digest) < (right.key, right.version, right.digest)
    }
}

/// A patch that makes the file of a download from an installed file.
struct DownloadPatch: Hashable, Codable, Sendable {
    /// SHA-256 of the patch, which also names its part file.
    var digest: String
    var size: UInt64
    /// SHA-256 of the file that it starts from.
    var base: String
}

/// One thing that a task needs.
struct DownloadItem: Hashable, Sendable {
    enum Source: Hashable, Sendable {
        /// A file that is downloaded whole or as a patch.
        case file(DownloadPatch?)
        /// A single tile, which the shell adds to the file that is being filled; `digest` is any name of the tile.
        case tile
        /// A pack that is complete when all tiles of the plan with the same file have ended.
        ///
        /// Its `digest` is a name that the shell makes of its tiles, and counts as the name of a part file.
        case filled
    }

    /// Who holds the file; `nil` for packs that a map viewed and no region needs.
    var holder: Item?
    var file: FileID
    var size: UInt64
    var source: Source = .file(nil)
    /// When the file expires, in seconds of the wall clock.
    var expires: Int64?
    /// Of a pack from a list.
    var age: PackAge?
    /// How many times the bytes of its part file it also needs when it is prepared: the files of a style next to their
    /// archive, and the archive of a style that was filled.
    var copies: UInt64 = 0

    /// What the shell needs; the rules do not read it.
    var details: DownloadDetails?

    var isTile: Bool { source == .tile }
    var isPack: Bool { file.key.isPack && !isTile }
    var patch: DownloadPatch? { if case .file(let patch) = source { patch } else { nil } }
}

/// What a task has to do, from the catalog of the moment; not durable, because a new process plans again.
struct Plan: Hashable, Sendable {
    var downloads: [DownloadItem]
    /// Single tiles that the task adds, all of them, also those that are there.
    var onlineTiles: UInt64 = 0
    var failed: [FileID: FailureCause] = [:]
    /// Holds of the task's items that what they are to hold now has no use for: they are dropped when the task is done.
    var released: Set<Hold> = []
    /// Whether its files are parts of one thing and become current in one transaction.
    var swapsTogether = false
    /// Single tiles and resources that belong to the downloads and are there already; only their counts are used.
    var present = TaskProgress()
}

/// What the planner knows of a download beyond what the rules need: where its bytes are, and what its row will say.
struct DownloadDetails: Sendable, Hashable {
    /// The address of the whole file or of the tile.
    var address: URL
    /// What the address is.
    var kind: ResourceRequest.Kind
    /// Headers of the request.
    var headers: [String: String] = [:]
    /// The address of the patch, when the download has one.
    var patch: URL?
    /// The installed file that the patch is for.
    var base: URL?
    /// The file as it will be installed; of a tile, the pack that it belongs to.
    var file: InstalledFile
    /// The tile, for a single tile.
    var tile: TilePlace?
    /// The resource, for a single resource of a style.
    var resource: StyleResource?
    /// How fast its server may be asked.
    var limits: RequestLimits?

    /// The limits of a tile server, for all requests to it together.
    struct RequestLimits: Sendable, Hashable {
        var perSecond: Double
        var parallel: Int
        var timeout: Duration
    }

    /// A single tile and the pack that is being filled with it.
    struct TilePlace: Sendable, Hashable {
        var zoom: Int
        var column: Int
        var row: Int
    }
}
