public import Digests

/// The inputs of the scheduler.
public enum Event: Sendable {
    /// A job was submitted; answered by ``Effect/submitted(job:existing:)``.
    case submit(JobSubmission)
    /// A job must end now. Ignored for unknown and ended jobs.
    case cancel(JobID)
    /// All packages of a job that has not ended are merged and published again, as its new submission says. Ignored for other jobs.
    case remerge(JobID, payload: [UInt8])
    /// Remove an ended job, also from the store. Ignored for other jobs.
    case forget(JobID)

    /// An order for an unfinished job. Ignored when ``Scheduler/refusal(of:)`` refuses it.
    case order(JobID, JobOrder)
    /// A failed or cancelled job resumes with the batches from the store (`isKept`), or with a new plan when they are
    /// gone.
    ///
    /// `only` = retry just these batches; `nil` = retry all failed work. `payload` = the new submission; empty = keep
    /// the stored one. `isApart` = from now on each package is published when it is ready. `mergesAll` = packages that were published
    /// are merged and published again.
    case reopen(
        JobID, batches: [Batch], isKept: Bool = true, needs: PackageNeeds?, only: [BatchIndex]?, payload: [UInt8] = [],
        isApart: Bool = false, mergesAll: Bool = false)
    /// Dead batches and failed tiles of an unfinished job are retried; `nil` = all of them.
    case requeue(JobID, batches: [BatchIndex]?)
    /// Dead batches and failed tiles are neither retried nor listed any more; `nil` = all of them.
    case drop(JobID, batches: [BatchIndex]?)
    /// The answer to ``Effect/split(_:)``.
    case splitPlanned(JobID, batch: BatchIndex, [PlannedBatch])

    /// An operator lifts an origin's block and closes its breaker.
    case openOrigin(String)
    /// An operator's limit for an origin; `nil` = none any more.
    case limitOrigin(String, OperatorLimit?)
    /// A schedule with its submission. Replaces a schedule with the same id and keeps its history.
    case putSchedule(Schedule, payload: [UInt8])
    /// Removes a schedule. Its jobs are not affected.
    case dropSchedule(String)
    /// A schedule is paused or resumed.
    case pauseSchedule(String, Bool, wall: Int64)
    /// Wall time, in milliseconds since 1970.
    ///
    /// Only schedules use it.
    case wall(Int64)
    /// The submission of a schedule was refused. It is retried when `retriable`, else skipped.
    case fireFailed(schedule: String, wall: Int64, Trouble, retriable: Bool)

    /// A schedule that was run by hand made no job.
    case runFailed(schedule: String, wall: Int64, Trouble)

    /// A schedule that is due needs no job: its source has the build that its last job was made of.
    case fireUnchanged(schedule: String, wall: Int64, build: String = "")

    /// A worker process connected or reconnected, holding `held`.
    case hello(SessionID, SessionProfile, held: [LeaseToken])
    /// A worker can take `credit` further offers, and in addition `mergeCredit` merges. `full` = the limit of its machine that is
    /// reached, for people; empty = none.
    case ready(SessionID, credit: UInt32, mergeCredit: UInt32 = 0, full: String = "")
    /// A worker's work loop is running and holds these leases. Contains its use of origins and the highest grant round
    /// that it has applied. `namesHeld` = every live grant of an earlier run is included.
    case progress(
        SessionID, [LeaseProgress], origins: [OriginUse] = [], acknowledged: UInt64 = 0, namesHeld: Bool = false)
    /// A worker reports a result. Everything that the result names is durable.
    case commit(SessionID, LeaseToken, CommitResult)
    /// A result that cannot be accepted, whatever its token: its blob does not exist, or its numbers are inconsistent.
    case refusedCommit(SessionID, LeaseToken, Trouble)
    /// An attempt failed as a whole.
    ///
    /// - Parameter lostShards: What a merge could not read; the batches that made them are fetched again.
    case fail(SessionID, LeaseToken, Trouble, retriable: Bool, lostShards: [Digest] = [])
    /// Leases returned without an attempt. Costs no attempt.
    case giveBack(SessionID, [LeaseToken])
    /// A worker disconnects.
    case bye(SessionID)
    /// A worker must finish its leases and leave, or (`isOn` false) that request is cancelled. Ignored for unknown
    /// sessions.
    case drain(SessionID, isOn: Bool)
    /// These offers were definitely not delivered.
    case undelivered(SessionID, [LeaseToken])

    /// The manifest of a package is durable.
    ///
    /// `decides` = the package's bytes follow from the manifest alone. It is false when the manifest refers to
    /// something that may change, for example the address of a style.
    case manifestWritten(JobID, package: PackageIndex, Digest, decides: Bool = true)
    /// The catalog has the package.
    case published(JobID, package: PackageIndex, version: UInt32, path: String, unchanged: Bool)
    /// Writing the manifest or publishing failed.
    case packageTrouble(JobID, package: PackageIndex, Trouble, retriable: Bool)
    /// A manifest could not be written, or its job had already ended. Every ``Effect/writeManifest(_:package:)`` is
    /// answered by this event or by ``manifestWritten(_:package:_:decides:)``.
    case manifestFailed(JobID, package: PackageIndex, Trouble, retriable: Bool)

    /// Disk space for blobs is short: release the oldest previous build.
    case blobSpaceShort
    /// Time has passed.
    case timer
    /// The coordinator itself was stalled (suspended, or its disk was full). No lease may expire because of that.
    case loopStalled
}

/// The description of a worker, from its hello.
public struct SessionProfile: Hashable, Sendable {
    /// Shown to people.
    ///
    /// Not guaranteed to be unique.
    public var name: String
    /// Host name.
    public var host: String
    /// Process id.
    public var processID: UInt64
    /// Build, for people.
    public var build: String
    /// Whether it takes batches.
    public var canFetch: Bool
    /// Whether it takes packages.
    public var canMerge: Bool
    /// The newest package format that it writes.
    public var packageFormat: UInt32 = .max
    /// The formats that it writes in addition to the package file, ascending.
    public var exports: [String] = []
    /// Whether it plans the ranges of an archive, and fetches parts of such a plan.
    public var plansRanges = false
    /// The words that its operator gave it, ascending; jobs may ask for them.
    public var labels: [String] = []

    /// A worker's description.
    public init(name: String, host: String, processID: UInt64, build: String, canFetch: Bool, canMerge: Bool) {
        self.name = name
        self.host = host
        self.processID = processID
        self.build = build
        self.canFetch = canFetch
        self.canMerge = canMerge
    }
}

/// The progress of a lease.
public struct LeaseProgress: Hashable, Sendable {
    /// The lease.
    public var token: LeaseToken
    /// Tiles completed.
    public var done: UInt64
    /// Bytes received.
    public var bytes: UInt64

    /// The progress of one lease.
    public init(token: LeaseToken, done: UInt64, bytes: UInt64) {
        self.token = token
        self.done = done
        self.bytes = bytes
    }
}

/// The content of a commit.
public enum CommitResult: Hashable, Sendable {
    /// A fetched batch: its shard, its counts, and its named failed tiles.
    case fetch(Digest, FetchCounts, failures: [FailedTile])
    /// A merged package.
    case merge(MergedPackage)
    /// The planned ranges of a batch.
    case plan(RangePlanResult)

    /// Whether it is a result of a batch.
    var isOfBatch: Bool { if case .merge = self { false } else { true } }

    /// SHA-256 of the shard, the package or the plan.
    var digest: Digest {
        switch self {
        case .fetch(let digest, _, _): digest
        case .plan(let plan): plan.digest
        case .merge(let package): package.digest
        }
    }
}
