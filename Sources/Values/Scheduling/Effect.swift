public import Digests
public import Tiles

/// What the caller must do, in this order: all `store` effects of a tick in one transaction, and the rest only when
/// that is durable.
public enum Effect: Sendable {
    /// Change the store.
    case store(StoreWrite)
    /// Store the sessions that may hold shares of origins' budgets, in the same transaction. Not part of any job's
    /// state.
    case holders(ShareHolders)
    /// Send a message to a worker.
    case send(SessionID, Outgoing)
    /// Answer to ``Event/submit(_:)``.
    case submitted(job: JobID, existing: Bool)
    /// Write the package's merge manifest as a blob, then send ``Event/manifestWritten(_:package:_:decides:)``.
    case writeManifest(JobID, package: PackageIndex)
    /// Publish a merged package, then send ``Event/published(_:package:version:path:unchanged:)``. Idempotent; repeated
    /// after a restart.
    case publish(JobID, package: PackageIndex, MergedPackage)
    /// Publish all packages of a job that are ``PackageState/publishing`` in one change of the catalog, then send
    /// ``Event/published(_:package:version:path:unchanged:)`` for each, or ``Event/packageTrouble(_:package:_:retriable:)``
    /// for those that are refused. Idempotent; repeated after a restart.
    case publishTogether(JobID)
    /// The job has ended. Blobs that only it needs may be removed.
    case release(JobID)
    /// The job is finished and keeps its accepted shards as a previous build. Its other blobs may be removed.
    ///
    /// Idempotent; repeated after a restart.
    case trim(JobID)
    /// Divide a batch along the job's mask, then send ``Event/splitPlanned(_:batch:_:)``.
    case split(CutRequest)
    /// Submit the job of a schedule with ``Firing/requestID(of:)`` as request id. Then send ``Event/submit(_:)`` or
    /// ``Event/fireFailed(schedule:wall:_:retriable:)``.
    case fire(schedule: String, due: Int64)
}

/// A message to a worker, independent of its wire form.
public enum Outgoing: Hashable, Sendable {
    /// Answer to hello. Of the leases held, these still belong to the worker.
    case welcome(adopted: [LeaseToken])
    /// Work.
    case offer(Offer)
    /// The commit of this token with this digest is durable.
    case ack(LeaseToken, Digest)
    /// The token is not current: the worker must forget the work. It must not delete the blob, because another attempt
    /// may have produced the same bytes.
    case stale(LeaseToken, reason: String)
    /// Answer to progress. Of the leases named, these must be stopped and forgotten.
    case pong(cancelled: [LeaseToken])
    /// All grants of the session for origins' budgets. Replaces the previous grants.
    case grants([RateGrant])
    /// The worker must send hello again.
    case unknownSession
}

/// Work for a worker.
public struct Offer: Hashable, Sendable {
    /// The kind of work.
    public enum Work: Hashable, Sendable {
        /// Fetch the tiles of a batch.
        case fetch(batch: BatchIndex, cell: TileID, zooms: ZoomRange, tiles: UInt64)
        /// Merge a package.
        case merge(package: PackageIndex, id: String, manifest: Digest)
    }
    /// The lease.
    public let token: LeaseToken
    /// The job.
    public let job: JobID
    /// How long the lease is valid without progress.
    ///
    /// Milliseconds.
    public let lease: Int64
    /// 1 for the first attempt.
    public let attempt: UInt32
    /// The work.
    public let work: Work
    /// Shards that may already contain tiles of a batch, nearest first; see ``SchedulerPolicy/maxSources``.
    public var sources: [Digest] = []
    /// Shards of previous builds that may contain older versions of tiles of a batch; see
    /// ``SchedulerPolicy/maxBases``.
    ///
    /// The worker must ask the origin whether a tile has changed.
    public var base: [Digest] = []
    /// Whether the first source comes from an earlier attempt at the batch.
    ///
    /// Tiles that it lacks failed in that attempt.
    public var isPartialFirst = false
    /// Whether the job has tiles: a refusal of the server is then of single tiles.
    public var hasFoundTiles = false
    /// The version of the source's data that the job uses; see ``JobSummary/sourceVersion``.
    public var sourceVersion: String?
    /// The version of the data in ``sources``.
    ///
    /// Sources of another version must not be used.
    public var sourcesVersion: String?
    /// Whether the ranges of the batch must be planned, and none of its tiles fetched.
    public var isToPlan = false
    /// The plan that the batch is a part of; `nil` = the batch is all tiles of the mask in its cell and zooms.
    public var plan: OfferedPlan?
}

/// One change of the store.
///
/// All changes of a tick are one transaction.
public enum StoreWrite: Hashable, Sendable {
    /// A new job with its batches and packages.
    case insertJob(StoredJob)
    /// A job's own row.
    case job(JobSummary)
    /// Remove everything of an ended job.
    case forget(JobID)
    /// Rows of new batches, after all existing ones of the job.
    case addBatches(JobID, first: BatchIndex, [Batch])
    /// An ended job resumes: replaces its row and its packages, and keeps failures only of batches that are done or
    /// dead. An empty payload keeps the stored one.
    ///
    /// `keepsBatches` = its batches stay as they are; if not, the batches of the job are a new plan.
    case reopen(StoredJob, keepsBatches: Bool)
    /// These batches are ready for a first attempt again, and their failed tiles are no longer listed.
    ///
    /// Tiles that they have stay available as a source.
    case resetBatches(JobID, [BatchIndex])
    /// The dead batches and failed tiles of an ended job that are neither listed nor retried any more; `nil` = all.
    case dropped(JobID, batches: [BatchIndex]?)
    /// A schedule's row, together with its submission if that is new.
    case schedule(Schedule, payload: [UInt8]?)
    /// A firing of a schedule, and remove those of the schedule before the newest ``PastFiring/kept``.
    ///
    /// The end of its job changes its result.
    case firing(PastFiring)
    /// Remove a schedule and its firings.
    case dropSchedule(String)
    /// A step of a job that is done.
    ///
    /// The rows of a job's steps are removed when it is reopened or forgotten.
    case step(JobStep)
    /// An operator's limit for an origin; `nil` = removed.
    case originLimit(String, OperatorLimit?)
    /// An origin gets no requests; only a line of the event log, no part of the state.
    case originBlocked(OriginBlock)
    /// A batch's row.
    case batch(JobID, index: BatchIndex, Batch)
    /// A package's row.
    case package(JobID, index: PackageIndex, Package)
    /// The failed tiles of an accepted batch; at most ``SchedulerPolicy/listedFailures`` per job.
    case failures(JobID, batch: BatchIndex, [FailedTile])
    /// A blob that a worker made and that was not accepted. It is removed when the job ends.
    case orphan(JobID, Digest)
}

extension StoreWrite {
    /// The job for which it grants a lease, or `nil`.
    public var leasedJob: JobID? {
        switch self {
        case .batch(let job, _, let batch): batch.state == .leased ? job : nil
        case .package(let job, _, let package): package.state == .leased ? job : nil
        default: nil
        }
    }
}

/// A job in the form of the store.
public struct StoredJob: Hashable, Sendable {
    /// Its row.
    public var summary: JobSummary
    /// Its batches.
    ///
    /// They may be omitted for a job that has ended.
    public var batches: [Batch]
    /// Its packages.
    public var packages: [Package]
    /// See ``JobSubmission/payload``.
    public var payload: [UInt8]
    /// The origin whose budget its requests use.
    ///
    /// Not a separate column: the caller reads it from the payload.
    public var origin: JobOrigin?

    /// See ``JobSubmission/needs``.
    ///
    /// Not stored; computed from the payload.
    public var needs: PackageNeeds?
    /// See ``JobSubmission/tileset``.
    ///
    /// Not stored; computed from the payload.
    public var tileset: Digest?
    /// See ``JobSubmission/formats``.
    ///
    /// Not stored; computed from the payload.
    public var formats: [[String]] = []
    /// See ``JobSubmission/asksChangedOnly``.
    ///
    /// Not stored; computed from the payload.
    public var asksChangedOnly = false
    /// See ``JobSubmission/labels``.
    ///
    /// Not stored; computed from the payload.
    public var labels: [String] = []
    /// See ``JobSubmission/publishesTogether``.
    ///
    /// Not stored; computed from the payload.
    public var publishesTogether = false
    /// The unfinished jobs that may still use the shards of this ended job; its batches are those with shards.
    ///
    /// Not stored; computed at a start from the times of submission and end.
    public var heldFor: [JobID] = []

    /// A job in the form of the store.
    public init(
        summary: JobSummary, batches: [Batch], packages: [Package], payload: [UInt8] = [], needs: PackageNeeds? = nil,
        tileset: Digest? = nil, origin: JobOrigin? = nil, formats: [[String]] = []
    ) {
        self.summary = summary
        self.batches = batches
        self.packages = packages
        self.payload = payload
        self.origin = origin
        self.needs = needs
        self.tileset = tileset
        self.formats = formats
    }
}
