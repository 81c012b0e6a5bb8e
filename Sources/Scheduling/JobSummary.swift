/// The numbers of a job, always true: stored + empty + failed + inFlightDone never exceeds `tiles`.
public struct JobCounts: Hashable, Sendable {
    /// Tiles of the job.
    public var tiles: UInt64 = 0
    /// Committed tiles with a body.
    public var stored: UInt64 = 0
    /// Committed tiles the origin has nothing for.
    public var empty: UInt64 = 0
    /// Tiles given up: named in commits, or of dead batches.
    public var failed: UInt64 = 0
    /// Tiles settled by running leases, not yet committed.
    ///
    /// Zero in a store.
    public var inFlightDone: UInt64 = 0
    /// Bytes of committed bodies.
    public var bytes: UInt64 = 0
    /// Of the stored and empty tiles, those taken from shards that were there already instead of from the origin.
    public var reused: UInt64 = 0
    /// Of the stored tiles, those that the origin only confirmed: they are as an earlier build has them.
    public var notModified: UInt64 = 0
    /// Body bytes the origin sent for committed tiles.
    public var received: UInt64 = 0
    /// Batches by state, indexed by ``BatchState/rawValue``.
    public var batches: [UInt64] = [0, 0, 0, 0, 0, 0]

    /// All zero.
    public init() {}

    /// Batches in `state`.
    public subscript(state: BatchState) -> UInt64 {
        get { batches[Int(state.rawValue)] }
        set { batches[Int(state.rawValue)] = newValue }
    }

    /// Counts an accepted fetch.
    mutating func book(_ result: FetchCounts) {
        stored += result.stored
        empty += result.empty
        failed += result.failed
        bytes &+= result.bodyBytes
        reused += result.reused
        notModified += result.notModified
        received &+= result.received
    }

    /// Takes an accepted fetch back.
    mutating func unbook(_ result: FetchCounts) {
        stored -= result.stored
        empty -= result.empty
        failed -= result.failed
        bytes &-= result.bodyBytes
        reused -= result.reused
        notModified -= result.notModified
        received &-= result.received
    }

    /// All batches, those that were cut included.
    public var totalBatches: UInt64 { batches.reduce(0, +) }

    /// The batches that hold tiles.
    public var wholeBatches: UInt64 { totalBatches - self[.split] }
}

/// What the scheduler keeps of a job beside its batches and packages, in memory and as a row.
public struct JobSummary: Hashable, Sendable {
    /// Its number.
    public let id: JobID
    /// What the submitter called the request; a repeated one returns the job.
    ///
    /// Empty = never repeated.
    public let requestID: String
    /// Higher runs first; a negative one rests.
    public internal(set) var priority: Int32
    /// Share of the cluster among jobs of one priority; at least 1.
    public internal(set) var weight: UInt32
    /// Share of failed tiles above which the job fails.
    ///
    /// 0...1.
    public let allowedMissing: Double
    /// Where it stands.
    public internal(set) var state: JobState = .fetching
    /// Why it failed or was cancelled.
    public internal(set) var reason = ""
    /// Its numbers.
    public internal(set) var counts = JobCounts()
    /// Jobs that must be done before it begins; one that is done is taken off the list.
    public internal(set) var after: [JobID]
    /// SHA-256 of everything that reaches its packages; jobs of one identity make the same bytes.
    public let identity: ContentDigest?
    /// Whether it has ended and still holds its batches and their shards: failed, so that a retry goes on where it ended; done, as a
    /// baseline of rebuilds.
    public internal(set) var keepsBlobs: Bool
    /// Whether it stood still with tiles in hand, paused or ended and retried: they may be of another day, so no other job takes its tiles as
    /// they are.
    public internal(set) var hasRested: Bool
    /// The version of the source's data from which all its tiles come: that of the first result with tiles.
    ///
    /// `nil` before that, and for servers, whose data has no version as a whole.
    public internal(set) var sourceVersion: String?

    /// A job as submitted or as read back from a store.
    public init(
        id: JobID, requestID: String, priority: Int32, weight: UInt32, allowedMissing: Double,
        state: JobState = .fetching,
        reason: String = "", counts: JobCounts = JobCounts(), after: [JobID] = [], identity: ContentDigest? = nil,
        keepsBlobs: Bool = false, hasRested: Bool = false, sourceVersion: String? = nil
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
        self.hasRested = hasRested
        self.sourceVersion = sourceVersion
    }
}

/// A job as asked for, planned already.
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
    /// The caller's own description, handed to the store with the job and never looked into.
    public var payload: [UInt8]
    /// Whose budget its requests draw from; `nil` = nobody's.
    public var origin: JobOrigin?
    /// See ``JobSummary/after``.
    public var after: [JobID]
    /// See ``JobSummary/identity``; `nil` = like no other job.
    public var identity: ContentDigest?
    /// The schedule it comes from.
    public var firing: Firing?
    /// Which batches each package waits for; `nil` = all of them.
    public var needs: PackageNeeds?
    /// Names the bytes of the tileset: jobs of one tileset share what they fetch.
    ///
    /// `nil` = with nobody.
    public var tileset: ContentDigest?
    /// Per package, the formats it is to have beside its own, ascending; empty = none has any.
    public var formats: [[String]]
    /// The version of the source's data that the submitter has seen; `nil` = the first that a worker meets.
    public var sourceVersion: String?

    /// A job of `packages` over `batches`.
    public init(
        requestID: String, priority: Int32 = 0, weight: UInt32 = 1, allowedMissing: Double, batches: [PlannedBatch],
        packages: [Package], payload: [UInt8] = [], needs: PackageNeeds? = nil, tileset: ContentDigest? = nil,
        after: [JobID] = [], identity: ContentDigest? = nil, firing: Firing? = nil, origin: JobOrigin? = nil,
        formats: [[String]] = [], sourceVersion: String? = nil
    ) {
        self.sourceVersion = sourceVersion
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
