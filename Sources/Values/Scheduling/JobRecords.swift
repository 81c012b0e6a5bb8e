public import Digests
public import Tiles

/// The state of a job.
///
/// `fetching → merging → publishing → done`, or `failed` or `cancelled`.
public enum JobState: String, Hashable, Sendable, CaseIterable {
    /// Batches are being fetched.
    case fetching
    /// Every batch has ended successfully; packages are being merged.
    case merging
    /// Every package is merged; the last ones are being published.
    case publishing
    /// Every package is in the catalog.
    case done
    /// Ended with an error; the reason is stored.
    case failed
    /// Ended by request.
    case cancelled

    /// Whether the state is final.
    public var isFinal: Bool { self == .done || self == .failed || self == .cancelled }
}

/// The state of a batch.
public enum BatchState: UInt8, Hashable, Sendable, CaseIterable {
    /// Waiting for a worker.
    case ready = 0
    /// Granted; `token` is current.
    case leased = 1
    /// Waiting for its next attempt.
    case backoff = 2
    /// Its shard is durable and counted.
    case done = 3
    /// Failed permanently; `trouble` says why.
    case dead = 4
    /// Split into batches that were appended for it. Contains no tiles any more.
    case split = 5

    /// Whether the batch has reached a final state.
    ///
    /// Packages do not wait for it.
    public var isSettled: Bool {
        switch self {
        case .ready, .leased, .backoff: false
        case .done, .dead, .split: true
        }
    }
}

/// Why an attempt failed.
public struct Trouble: Hashable, Sendable {
    /// Stable kebab-case code.
    public var cause: String
    /// One line for people; at most 200 characters.
    public var detail: String

    /// A failure.
    ///
    /// The detail is cut to its limit.
    public init(cause: String, detail: String) {
        self.cause = String(cause.prefix(64))
        self.detail = String(detail.prefix(200))
    }
}

/// One batch, in memory and as a row.
public struct Batch: Hashable, Sendable {
    /// Index tile.
    public let cell: TileID
    /// Zoom span.
    public let zooms: ZoomRange
    /// Number of tiles.
    public let tiles: UInt64
    /// What is done with it.
    public let role: BatchRole
    /// Its state.
    public internal(set) var state: BatchState = .ready
    /// Attempts that ended with a reported failure.
    public internal(set) var attempts: UInt8 = 0
    /// Leases that expired without a report.
    public internal(set) var losses: UInt8 = 0
    /// The current lease, or the one whose commit was accepted.
    public internal(set) var token: LeaseToken?
    /// The session that holds the lease.
    public internal(set) var owner: SessionID = 0
    /// SHA-256 of the accepted shard, or of the accepted plan of a batch that was split into parts of it.
    public internal(set) var digest: Digest?
    /// The shard of an attempt in which some tiles failed.
    ///
    /// Its tiles need not be fetched again.
    public internal(set) var partial: Digest?
    /// The counts of the accepted commit.
    public internal(set) var result = FetchCounts()
    /// Why the last attempt failed.
    public internal(set) var trouble: Trouble?

    /// A shard that has tiles of the batch: the accepted one, or that of an attempt in which some failed.
    var shard: Digest? { role == .plan ? nil : digest ?? partial }

    /// A batch that waits for its first attempt.
    public init(_ planned: PlannedBatch) {
        cell = planned.cell
        zooms = planned.zooms
        tiles = planned.tiles
        role = planned.role
    }

    /// A batch as read from a store.
    public init(
        cell: TileID, zooms: ZoomRange, tiles: UInt64, role: BatchRole = .cell, state: BatchState, attempts: UInt8,
        losses: UInt8, token: LeaseToken?,
        owner: SessionID, digest: Digest?, partial: Digest? = nil, result: FetchCounts, trouble: Trouble?
    ) {
        self.cell = cell
        self.zooms = zooms
        self.tiles = tiles
        self.role = role
        self.state = state
        self.attempts = attempts
        self.losses = losses
        self.token = token
        self.owner = owner
        self.digest = digest
        self.partial = partial
        self.result = result
        self.trouble = trouble
    }
}

/// The counts of an accepted fetch.
public struct FetchCounts: Hashable, Sendable {
    /// Tiles with a body.
    public var stored: UInt64 = 0
    /// Tiles for which the origin has no data.
    public var empty: UInt64 = 0
    /// Tiles that could not be fetched.
    public var failed: UInt64 = 0
    /// Bytes of all bodies.
    public var bodyBytes: UInt64 = 0
    /// Bytes of the shard file.
    public var shardBytes: UInt64 = 0
    /// Of the stored and empty tiles, those taken from existing shards.
    public var reused: UInt64 = 0
    /// Of the stored tiles, those that the origin confirmed without sending them.
    public var notModified: UInt64 = 0
    /// Body bytes that the origin sent, over all attempts at these tiles.
    public var received: UInt64 = 0
    /// Of the received bytes, those of tiles that are as in an earlier build.
    public var receivedAgain: UInt64 = 0
    /// Bytes of unchanged tiles that the origin did not have to send.
    public var notSent: UInt64 = 0
    /// The SHA-256 in the shard's footer; `nil` from workers that do not report it.
    public var footer: Digest?
    /// The version of the source's data in the shard.
    ///
    /// Not stored with the batch, because the job has it.
    ///
    /// See ``JobSummary/sourceVersion``. `nil` from servers, and from workers of earlier builds.
    public var sourceVersion: String?
    /// See ``JobSummary/blockList``; not stored with the batch.
    public var blockList = ""

    /// All zero, or as given.
    public init(
        stored: UInt64 = 0, empty: UInt64 = 0, failed: UInt64 = 0, bodyBytes: UInt64 = 0, shardBytes: UInt64 = 0,
        reused: UInt64 = 0, notModified: UInt64 = 0, received: UInt64 = 0, receivedAgain: UInt64 = 0,
        notSent: UInt64 = 0, footer: Digest? = nil
    ) {
        (self.receivedAgain, self.notSent) = (receivedAgain, notSent)
        self.stored = stored
        self.empty = empty
        self.failed = failed
        self.bodyBytes = bodyBytes
        self.shardBytes = shardBytes
        self.reused = reused
        self.notModified = notModified
        self.received = received
        self.footer = footer
    }

    /// The sum of stored, empty and failed; `nil` when it does not fit.
    var fetched: UInt64? {
        let (some, first) = stored.addingReportingOverflow(empty)
        let (all, second) = some.addingReportingOverflow(failed)
        return first || second ? nil : all
    }
}

/// The result of a merge.
public struct MergedPackage: Hashable, Sendable {
    /// SHA-256 of the package file, durable as a blob; of the first part of a package in parts.
    public var digest: Digest
    /// Bytes of the file, or of the main files of all parts.
    public var size: UInt64
    /// Tiles in it, each counted once.
    public var tiles: UInt64
    /// `agg_tiles_hash` of its tiles, or of those of the first part.
    public var tilesHash: String
    /// Files written in addition to the package file, ascending by format; of a package in parts all files of each part.
    ///
    /// They are durable as blobs too. PMTiles that is made alone is the package file, and is named here too.
    public var files: [MergedFile]
    /// What looks wrong about its tiles, for people; empty for nothing.
    public var remark: String

    /// A merged package.
    public init(
        digest: Digest, size: UInt64, tiles: UInt64, tilesHash: String, files: [MergedFile] = [], remark: String = ""
    ) {
        self.digest = digest
        self.size = size
        self.tiles = tiles
        self.tilesHash = tilesHash
        self.files = files
        self.remark = remark
    }

    /// The package file, then all of ``files``, which may name it again.
    public var digests: [Digest] { [digest] + files.map(\.digest) }
}

/// A merged package in another format, or a file of a part of it.
public struct MergedFile: Hashable, Sendable {
    /// Kebab-case name of the format.
    public var format: String
    /// SHA-256 of the file.
    public var digest: Digest
    /// Bytes of the file.
    public var size: UInt64
    /// The part that it is a file of; `nil` = it has the whole package.
    public var part: MergedPart?

    /// A file of a merged package.
    public init(format: String, digest: Digest, size: UInt64, part: MergedPart? = nil) {
        self.format = format
        self.digest = digest
        self.size = size
        self.part = part
    }
}

/// A tile that could not be fetched, for the job's report.
public struct FailedTile: Hashable, Sendable {
    /// The tile.
    public var tile: TileID
    /// Why.
    public var trouble: Trouble

    /// A failed tile.
    public init(tile: TileID, trouble: Trouble) {
        self.tile = tile
        self.trouble = trouble
    }
}
