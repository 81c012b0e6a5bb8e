public import Tiles

/// What the shell must do, in this order: all `store` effects of a turn in one transaction, and only when that is durable the rest.
public enum Effect: Sendable {
    /// Change the store.
    case store(StoreWrite)
    /// Keep in the store who may hold shares of origins' budgets, in the same transaction; not part of any job's state.
    case holders(ShareHolders)
    /// Send a message to a worker.
    case send(SessionID, Outgoing)
    /// Answer to ``Event/submit(_:)``.
    case submitted(job: JobID, existing: Bool)
    /// Write the package's merge manifest as a blob, then say ``Event/manifestWritten(_:package:_:decides:)``.
    case writeManifest(JobID, package: Int)
    /// Publish a merged package, then say ``Event/published(_:package:version:path:unchanged:)``. Idempotent; repeated after a restart.
    case publish(JobID, package: Int, MergedPackage)
    /// The job has ended; blobs that only it needs may go.
    case release(JobID)
    /// The job is done and keeps its accepted shards as a baseline; its other blobs may go.
    ///
    /// Idempotent; repeated after a restart.
    case trim(JobID)
    /// Cut a batch with the job's mask, then say ``Event/splitPlanned(_:batch:_:)``.
    case split(CutRequest)
    /// Submit a schedule's submission, under ``Firing/requestID(of:)`` as request id; then say ``Event/submit(_:)`` or ``Event/fireFailed(_:_:retriable:)``.
    case fire(schedule: String, due: Int64)
}

/// A message to a worker, without its wire form.
public enum Outgoing: Hashable, Sendable {
    /// Answer to hello; of the leases held, these are still the worker's.
    case welcome(adopted: [LeaseToken])
    /// Work.
    case offer(Offer)
    /// The commit of this token with this digest is durable.
    case ack(LeaseToken, ContentDigest)
    /// The token is not current; forget the work. (Never delete its blob: another attempt may have made the same bytes.)
    case stale(LeaseToken, reason: String)
    /// Answer to progress; of the leases named, these must be stopped and forgotten.
    case pong(cancelled: [LeaseToken])
    /// Everything the session holds of origins' budgets; replaces what it held.
    case grants([RateGrant])
    /// Say hello again.
    case unknownSession
}

/// Work for a worker.
public struct Offer: Hashable, Sendable {
    /// What is to be done.
    public enum Work: Hashable, Sendable {
        /// Fetch the tiles of a batch.
        case fetch(batch: Int, cell: TileID, zooms: ZoomRange, tiles: UInt64)
        /// Merge a package.
        case merge(package: Int, id: String, manifest: ContentDigest)
    }
    /// The lease.
    public let token: LeaseToken
    /// The job.
    public let job: JobID
    /// How long the lease lives without progress.
    ///
    /// Milliseconds.
    public let lease: Int64
    /// 1 for the first attempt.
    public let attempt: UInt32
    /// The work.
    public let work: Work
    /// Shards that may hold tiles of a batch already, nearest first; see ``SchedulerPolicy/mostSources``.
    public var sources: [ContentDigest] = []
    /// Shards of earlier builds that may hold tiles of a batch as they were then; see ``SchedulerPolicy/mostBases``.
    ///
    /// The origin must be asked whether a tile has changed.
    public var base: [ContentDigest] = []
    /// Whether the first source is what an earlier attempt at the batch left: tiles that it lacks failed then.
    public var isPartialFirst = false
    /// The version of the source's data that the job is made from; see ``JobSummary/sourceVersion``.
    public var sourceVersion: String?
    /// The version that ``sources`` are made from: with another one they are of no use.
    public var sourcesVersion: String?
}

/// One change of the store.
///
/// All changes of a turn are one transaction.
public enum StoreWrite: Hashable, Sendable {
    /// A new job with everything it has.
    case insertJob(StoredJob)
    /// A job's own row.
    case job(JobSummary)
    /// Everything of an ended job goes.
    case forget(JobID)
    /// Rows of new batches, behind all that the job has.
    case addBatches(JobID, first: Int, [Batch])
    /// A job that had ended goes on: its row, all its batches and packages anew; failures only of batches that are done. An empty payload
    /// leaves the stored one.
    case reopen(StoredJob)
    /// The dead batches and failed tiles of an ended job that nobody wants to see or try again; `nil` = all.
    case dropped(JobID, batches: [Int]?)
    /// A schedule's row; with its submission when that is new.
    case schedule(Schedule, payload: [UInt8]?)
    /// A schedule goes.
    case dropSchedule(String)
    /// An operator's limit for an origin; `nil` = none any more.
    case originLimit(String, OperatorLimit?)
    /// A batch's row.
    case batch(JobID, index: Int, Batch)
    /// A package's row.
    case package(JobID, index: Int, Package)
    /// The failed tiles of an accepted batch; at most ``SchedulerPolicy/listedFailures`` per job.
    case failures(JobID, batch: Int, [FailedTile])
    /// A blob that a worker made and nobody accepted; it goes when the job ends.
    case orphan(JobID, ContentDigest)
}

extension StoreWrite {
    /// The job of which it grants work, or `nil`.
    public var leasedJob: JobID? {
        switch self {
        case .batch(let job, _, let batch): batch.state == .leased ? job : nil
        case .package(let job, _, let package): package.state == .leased ? job : nil
        default: nil
        }
    }
}

/// A job as a store keeps it.
public struct StoredJob: Hashable, Sendable {
    /// Its row.
    public var summary: JobSummary
    /// Its batches; may be left out for a job that has ended.
    public var batches: [Batch]
    /// Its packages.
    public var packages: [Package]
    /// See ``JobSubmission/payload``.
    public var payload: [UInt8]
    /// Whose budget its requests draw from; not a column of its own: the shell reads it out of the payload.
    public var origin: JobOrigin?

    /// See ``JobSubmission/needs``; not stored, made again from the payload.
    public var needs: PackageNeeds?
    /// See ``JobSubmission/tileset``; not stored, made again from the payload.
    public var tileset: ContentDigest?
    /// See ``JobSubmission/formats``; not stored, made again from the payload.
    public var formats: [[String]] = []
    /// The unfinished jobs that may still use the shards of this one, which has ended; its batches are those with shards.
    ///
    /// Not stored: made at a start from the times of submission and end.
    public var heldFor: [JobID] = []

    /// A job as a store keeps it.
    public init(
        summary: JobSummary, batches: [Batch], packages: [Package], payload: [UInt8] = [], needs: PackageNeeds? = nil,
        tileset: ContentDigest? = nil, origin: JobOrigin? = nil, formats: [[String]] = []
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
