/// A worker process from the scheduler's point of view.
struct Session: Sendable {
    let id: SessionID
    var profile: SessionProfile
    /// Offers that it can take.
    var credit: UInt32 = 0
    /// Merges that it can take in addition, so that merges do not wait behind the fetches of a slow origin.
    var mergeCredit: UInt32 = 0
    /// Tokens of its leases, oldest first; only a few.
    var leases: [LeaseToken] = []
    var lastHeard: Tick
    /// When the counters of any of its leases last changed, or when it last got its first work.
    var lastMoved: Tick
    var isSuspect = false
    /// Gets no offers, and leaves when its leases have ended.
    ///
    /// Sent with every pong. Not kept over a restart.
    var isDraining = false
    /// No offers before this instant: its last attempt failed for a cause of its own machine.
    var pausedUntil: Tick?
    var pauseReason = ""
    /// The limit of its machine that is reached, as it says; empty = none.
    var full = ""
    var isQueuedToFetch = false
    var isQueuedToMerge = false
    var tiles: UInt64 = 0
    var bytes: UInt64 = 0
}

/// A piece of work, identified by the job's position in the scheduler's list.
enum WorkRef: Hashable, Sendable {
    case batch(job: JobPlace, index: BatchIndex)
    case package(job: JobPlace, index: PackageIndex)

    var job: JobPlace {
        switch self {
        case .batch(let job, _), .package(let job, _): job
        }
    }
}

/// A live lease.
struct Lease: Sendable {
    let session: SessionID
    let work: WorkRef
    let tiles: UInt64
    var deadline: Tick
    var hardDeadline: Tick
    var movedAt: Tick
    /// When it was granted, or found after a restart.
    let granted: Tick
    /// Whether it is a speculative lease.
    var isSpeculative = false
    var done: UInt64 = 0
    var bytes: UInt64 = 0

    var end: Tick { min(deadline, hardDeadline) }
}

/// Something to check at `due`.
///
/// Whether it is still relevant is decided then.
struct Alarm: Comparable, Sendable {
    enum Subject: Sendable {
        case lease(LeaseToken)
        case batch(job: JobPlace, index: BatchIndex)
        case package(job: JobPlace, index: PackageIndex)
        case session(SessionID)
        case pause(SessionID)
        case rates
    }
    let due: Tick
    /// Makes the order of equal entries independent of the heap.
    let order: UInt64
    let subject: Subject

    static func < (left: Alarm, right: Alarm) -> Bool { (left.due, left.order) < (right.due, right.order) }
    static func == (left: Alarm, right: Alarm) -> Bool { left.order == right.order }
}

/// A job's entry in the fair queue: highest priority, then least served, then oldest.
struct FetchQueueEntry: Comparable, Sendable {
    let priority: Int32
    let pass: UInt64
    let job: JobPlace
    /// ``Job/ticket``; an entry with an older one is outdated.
    let ticket: UInt32

    static func < (left: FetchQueueEntry, right: FetchQueueEntry) -> Bool {
        (right.priority, left.pass, left.job) < (left.priority, right.pass, right.job)
    }
}

/// A package that waits for a merger.
struct MergeQueueEntry: Comparable, Sendable {
    let priority: Int32
    let job: JobPlace
    let package: PackageIndex

    static func < (left: MergeQueueEntry, right: MergeQueueEntry) -> Bool {
        (right.priority, left.job, left.package) < (left.priority, right.job, right.package)
    }
}
