public import Digests

/// The counts of a job.
///
/// stored + empty + failed + inFlightDone never exceeds `tiles`.
public struct JobCounts: Hashable, Sendable {
    /// Tiles of the job.
    public var tiles: UInt64 = 0
    /// Committed tiles with a body.
    public var stored: UInt64 = 0
    /// Committed tiles for which the origin has no data.
    public var empty: UInt64 = 0
    /// Failed tiles: named in commits, or in dead batches.
    public var failed: UInt64 = 0
    /// Tiles completed by running leases and not committed yet.
    ///
    /// Always 0 in a store.
    public var inFlightDone: UInt64 = 0
    /// Bytes of committed bodies.
    public var bytes: UInt64 = 0
    /// Of the stored and empty tiles, those taken from existing shards instead of from the origin.
    public var reused: UInt64 = 0
    /// Of the stored tiles, those that the origin only confirmed: they are unchanged since an earlier build.
    public var notModified: UInt64 = 0
    /// Body bytes that the origin sent for committed tiles.
    public var received: UInt64 = 0
    /// Of these bytes, those of tiles that are as in an earlier build: received for nothing.
    public var receivedAgain: UInt64 = 0
    /// Bytes of unchanged tiles that the origin did not have to send.
    public var notSent: UInt64 = 0
    /// Batches by state, indexed by ``BatchState/rawValue``.
    public var batches: [UInt64] = [0, 0, 0, 0, 0, 0]

    /// All zero.
    public init() {}

    /// Batches in `state`.
    public subscript(state: BatchState) -> UInt64 {
        get { batches[Int(state.rawValue)] }
        set { batches[Int(state.rawValue)] = newValue }
    }

    /// Adds an accepted fetch.
    mutating func book(_ result: FetchCounts) {
        stored += result.stored
        empty += result.empty
        failed += result.failed
        bytes &+= result.bodyBytes
        reused += result.reused
        notModified += result.notModified
        received &+= result.received
        receivedAgain &+= result.receivedAgain
        notSent &+= result.notSent
    }

    /// Subtracts an accepted fetch.
    mutating func unbook(_ result: FetchCounts) {
        stored -= result.stored
        empty -= result.empty
        failed -= result.failed
        bytes &-= result.bodyBytes
        reused -= result.reused
        notModified -= result.notModified
        received &-= result.received
        receivedAgain &-= result.receivedAgain
        notSent &-= result.notSent
    }

    /// All batches, including those that were split.
    public var totalBatches: UInt64 { batches.reduce(0, +) }

    /// The batches that contain tiles.
    public var wholeBatches: UInt64 { totalBatches - self[.split] }
}

/// The data of a job except its batches and packages, in memory and as a row.
///
/// The scheduler changes it, and the reader of its row sets it.
public struct JobSummary: Hashable, Sendable {
    /// Its number.
    public let id: JobID
    /// The submitter's name of the request.
    ///
    /// A repeated request returns the same job.
    ///
    /// Empty = never repeated.
    public package(set) var requestID: String
    /// Higher runs first; negative = paused.
    public package(set) var priority: Int32
    /// Share of the cluster among jobs of one priority; at least 1.
    public package(set) var weight: UInt32
    /// Share of failed tiles above which the job fails.
    ///
    /// 0...1.
    public package(set) var allowedMissing: Double
    /// Its state.
    public package(set) var state: JobState = .fetching
    /// Why it failed or was cancelled.
    public package(set) var reason = ""
    /// Its counts.
    public package(set) var counts = JobCounts()
    /// Jobs that must be done before it starts.
    ///
    /// A finished job is removed from the list.
    public package(set) var after: [JobID]
    /// SHA-256 of everything that affects its packages.
    ///
    /// Jobs with the same identity produce the same bytes.
    public package(set) var identity: Digest?
    /// Whether it has ended and still has its batches and their shards: a failed job, so that a retry continues it; a
    /// finished job, as the previous build for rebuilds.
    public package(set) var keepsBlobs: Bool
    /// Whether it was inactive with fetched tiles, because it was paused or ended and was retried.
    ///
    /// The tiles may be stale, so no other job uses them unchecked.
    public package(set) var wasPaused: Bool
    /// The version of the source's data of all its tiles: that of the first result with tiles.
    ///
    /// `nil` before that, and for servers, whose data has no single version.
    public package(set) var sourceVersion: String?
    /// What became of the list of blocks beside its archive, in a line of at most 400 bytes; empty = none was looked for.
    public package(set) var blockList = ""

    /// Whether its packages are made without the tiles that failed in accepted batches, whatever their share.
    ///
    /// An archive has a version, and a tile of it fails only if its body is no tile: another attempt reads the same bytes.
    /// A tile server may heal, also one whose builds have names.
    public var leavesOut: Bool {
        guard let sourceVersion else { return false }
        return allowedMissing > 0 && !sourceVersion.hasPrefix(Self.serverBuildMark)
    }

    /// What the version of a build of a tile server begins with (docs/decisions/0094); versions of archives never do.
    public static let serverBuildMark = "build "

    /// A job as submitted or as read from a store.
    public init(
        id: JobID, requestID: String, priority: Int32, weight: UInt32, allowedMissing: Double,
        state: JobState = .fetching,
        reason: String = "", counts: JobCounts = JobCounts(), after: [JobID] = [], identity: Digest? = nil,
        keepsBlobs: Bool = false, wasPaused: Bool = false, sourceVersion: String? = nil
    ) {
        self.id = id
        self.requestID = requestID
        self.priority = priority
        self.weight = max(weight, 1)
        self.allowedMissing = allowedMissing
        self.state = state
        self.reason = reason
        self.counts = counts
        self.after = after
        self.identity = identity
        self.keepsBlobs = keepsBlobs
        self.wasPaused = wasPaused
        self.sourceVersion = sourceVersion
    }
}

/// A submitted job with its plan.
public struct JobSubmission: Sendable {
    /// See ``JobSummary/requestID``.
    public var requestID: String
    /// See ``JobSummary/priority``.
    public var priority: Int32
    /// See ``JobSummary/weight``.
    public var weight: UInt32
    /// See ``JobSummary/allowedMissing``.
    public var allowedMissing: Double
    /// The plan; not empty unless the job has no tiles at all.
    public var batches: [PlannedBatch]
    /// The packages; at least one.
    public var packages: [Package]
    /// The caller's own description.
    ///
    /// It is stored with the job and never read by the scheduler.
    public var payload: [UInt8]
    /// The origin whose budget its requests use; `nil` = none.
    public var origin: JobOrigin?
    /// See ``JobSummary/after``.
    public var after: [JobID]
    /// See ``JobSummary/identity``; `nil` = identical to no other job.
    public var identity: Digest?
    /// The schedule it comes from.
    public var firing: Firing?
    /// The batches that each package waits for; `nil` = all of them.
    public var needs: PackageNeeds?
    /// Identifies the bytes of the tileset.
    ///
    /// Jobs with the same tileset share fetched tiles.
    ///
    /// `nil` = not shared.
    public var tileset: Digest?
    /// Per package, the formats in addition to its own, ascending; empty = none for any package.
    public var formats: [[String]]
    /// The version of the source's data that the submitter has seen; `nil` = the first one that a worker reports.
    public var sourceVersion: String?
    /// Whether the origin is asked only for a list of changed tiles: other tiles of it may be older than the job, so no other job takes them.
    public var asksChangedOnly: Bool
    /// Whether its packages are published in one change of the catalog, when each of them is ready: all of them or none.
    public var publishesTogether: Bool
    /// Only workers with all of these words get its batches and merges; ascending.
    public var labels: [String]

    /// A job of `packages` over `batches`.
    public init(
        requestID: String, priority: Int32 = 0, weight: UInt32 = 1, allowedMissing: Double, batches: [PlannedBatch],
        packages: [Package], payload: [UInt8] = [], needs: PackageNeeds? = nil, tileset: Digest? = nil,
        after: [JobID] = [], identity: Digest? = nil, firing: Firing? = nil, origin: JobOrigin? = nil,
        formats: [[String]] = [], sourceVersion: String? = nil, asksChangedOnly: Bool = false,
        publishesTogether: Bool = false, labels: [String] = []
    ) {
        self.labels = labels
        self.publishesTogether = publishesTogether
        self.sourceVersion = sourceVersion
        self.asksChangedOnly = asksChangedOnly
        self.requestID = requestID
        self.priority = priority
        self.weight = weight
        self.allowedMissing = allowedMissing
        self.batches = batches
        self.packages = packages
        self.payload = payload
        self.origin = origin
        self.after = after
        self.identity = identity
        self.firing = firing
        self.needs = needs
        self.tileset = tileset
        self.formats = formats
    }
}
