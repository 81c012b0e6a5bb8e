/// What can happen to the scheduler.
public enum Event: Sendable {
    /// A job was asked for; answered by ``Effect/submitted(job:existing:)``.
    case submit(JobSubmission)
    /// A job is to end now. Unknown and ended jobs are left alone.
    case cancel(JobID)
    /// An ended job is to vanish, from the store too; others are left alone.
    case forget(JobID)

    /// An order about an unfinished job; left alone when ``Scheduler/refusal(of:)`` has an objection.
    case order(JobID, JobOrder)
    /// A failed or cancelled job goes on, with its batches as the store has them, or planned anew when they are gone.
    ///
    /// `only` = just these batches are tried again; `nil` = everything that was given up. `payload` = the submission from now on, empty = as
    /// it is stored.
    case reopen(JobID, batches: [Batch], needs: PackageNeeds?, only: [Int]?, payload: [UInt8] = [])
    /// Dead batches and failed tiles of an unfinished job are tried again; `nil` = all of them.
    case requeue(JobID, batches: [Int]?)
    /// Dead batches and failed tiles are never tried again and no longer listed; `nil` = all of them.
    case drop(JobID, batches: [Int]?)
    /// The answer to ``Effect/split(_:)``.
    case splitPlanned(JobID, batch: Int, [PlannedBatch])

    /// An operator lifts an origin's block and closes its breaker.
    case openOrigin(String)
    /// An operator's limit for an origin; `nil` = none any more.
    case limitOrigin(String, OperatorLimit?)
    /// A schedule with its submission; one of the same id is replaced, but keeps its history.
    case putSchedule(Schedule, payload: [UInt8])
    /// A schedule goes; its jobs stay.
    case dropSchedule(String)
    /// Wall time, in milliseconds since 1970.
    ///
    /// Only schedules look at it.
    case wall(Int64)
    /// A submission that a schedule fired was refused; tried again when `retriable`, else skipped.
    case fireFailed(schedule: String, wall: Int64, Trouble, retriable: Bool)

    /// A worker process introduced itself, or came back, holding `held`.
    case hello(SessionID, SessionProfile, held: [LeaseToken])
    /// A worker can take this many further offers.
    case ready(SessionID, credit: UInt32)
    /// A worker's work loop is alive, with these leases in hand; what it did to origins, and the highest grant round it has applied.
    /// `namesHeld` = every live grant of an earlier incarnation is among them.
    case progress(
        SessionID, [LeaseProgress], origins: [OriginUse] = [], acknowledged: UInt64 = 0, namesHeld: Bool = false)
    /// A worker offers a result; everything it names is durable.
    case commit(SessionID, LeaseToken, CommitResult)
    /// A result that cannot be accepted, whatever its token: its blob is not there, or its numbers make no sense.
    case refusedCommit(SessionID, LeaseToken, Trouble)
    /// An attempt failed as a whole.
    ///
    /// - Parameter lostShards: What a merge could not read; the batches that made them are fetched again.
    case fail(SessionID, LeaseToken, Trouble, retriable: Bool, lostShards: [ContentDigest] = [])
    /// Leases given back untouched; costs no attempt.
    case giveBack(SessionID, [LeaseToken])
    /// A worker leaves.
    case bye(SessionID)
    /// A worker is to finish what it has and leave, or (`isOn` false) to stay after all. Unknown sessions are left alone.
    case drain(SessionID, isOn: Bool)
    /// These offers were certainly not delivered.
    case undelivered(SessionID, [LeaseToken])

    /// The manifest of a package is durable.
    ///
    /// `decides` = whether the package's bytes follow from it alone; something else reaches them when it names what may change, as a style's
    /// address does.
    case manifestWritten(JobID, package: Int, ContentDigest, decides: Bool = true)
    /// The catalog has the package.
    case published(JobID, package: Int, version: UInt32, path: String, unchanged: Bool)
    /// Writing the manifest or publishing failed.
    case packageTrouble(JobID, package: Int, Trouble, retriable: Bool)
    /// A manifest could not be written, or its job had ended before. Every ``Effect/writeManifest(_:package:)`` is answered by this event or
    /// by ``manifestWritten(_:package:_:decides:)``.
    case manifestFailed(JobID, package: Int, Trouble, retriable: Bool)

    /// Room for blobs is short: the oldest baseline is to go.
    case makeRoom
    /// Time has passed.
    case timer
    /// The coordinator itself was deaf for a while (stopped, or its disk was full): no lease may suffer for it.
    case wasDeaf
}

/// What a worker says of itself.
public struct SessionProfile: Hashable, Sendable {
    /// Shown to people; unique only by habit.
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
    /// The newest version of packages it writes.
    public var packageFormat: UInt32 = .max
    /// The formats it writes beside the package file; ascending once it is known.
    public var exports: [String] = []

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

/// How far a lease has come.
public struct LeaseProgress: Hashable, Sendable {
    /// The lease.
    public var token: LeaseToken
    /// Tiles settled.
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

/// What a commit carries.
public enum CommitResult: Hashable, Sendable {
    /// A fetched batch: shard, numbers, the failed tiles that are named.
    case fetch(ContentDigest, FetchCounts, failures: [FailedTile])
    /// A merged package.
    case merge(MergedPackage)

    /// SHA-256 of the shard or package.
    var digest: ContentDigest {
        switch self {
        case .fetch(let digest, _, _): digest
        case .merge(let package): package.digest
        }
    }
}
