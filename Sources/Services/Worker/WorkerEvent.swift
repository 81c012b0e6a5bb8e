internal import Digests
internal import Errors
internal import Wire

/// The inputs of a worker.
enum WorkerEvent: Sendable {
    /// The link to the coordinator connected or reconnected.
    case linked
    /// A message about session `about`.
    case message(Message, about: UInt64)
    /// The coordinator uses another major version.
    case otherVersion(String)
    /// Time has passed; contains the progress of the running leases.
    case tick([UInt64: WorkCounters])
    /// The coordinator should get a report about origins before the next heartbeat.
    case report
    /// A running lease has ended on this worker.
    case finished(UInt64, WorkOutcome)
    /// A limit of this machine is reached, for people; empty = none any more.
    case limited(String)
    /// Shut down in an orderly way.
    case drain
}

/// What the caller must do, in this order.
enum WorkerEffect: Hashable, Sendable {
    case send(Message)
    case run(PBOffer)
    /// Stop the work of this lease. Its result is ignored.
    case cancel(UInt64)
    /// Close the connection and open a new one.
    case reconnect
    case end(WorkerEnd)
}

/// Why a worker ended.
enum WorkerEnd: Hashable, Sendable {
    /// By request, in an orderly way.
    case drained
    /// There was no work for as long as it waits for some.
    case idle
    /// Its time limit is near; all leases were given back.
    case outOfTime
    /// The coordinator will never accept this worker.
    case rejected(code: String, text: String)
    /// No coordinator for so long that the results are no longer needed.
    case orphaned
}

/// The progress of a lease: completed tiles and received body bytes.
struct WorkCounters: Hashable, Sendable {
    var done: UInt64 = 0
    var bytes: UInt64 = 0
}

/// The result of the work of a lease.
enum WorkOutcome: Sendable {
    /// The result is durable in the blob store.
    case done(PBCommit)
    case failed(WorkFailure)
    case cancelled
}

/// Why a lease failed as a whole.
struct WorkFailure: Error, Hashable, Sendable {
    /// What it is a failure of.
    let cause: FailureCause
    /// For people.
    let detail: String
    /// Whether another attempt may succeed.
    let retriable: Bool
    /// Shards that a merge cannot read: their batches are fetched again.
    let lostShards: [Digest]
    /// The most that are named at once.
    static let maxLostShards = 100

    init(cause: FailureCause, detail: String, retriable: Bool, lostShards: [Digest] = []) {
        self.cause = cause
        self.detail = detail
        self.retriable = retriable
        self.lostShards = Array(lostShards.prefix(Self.maxLostShards))
    }

    /// Whether this machine is at fault, so that it should not take other work for a while.
    var isLocal: Bool { FailureCause.local.contains(cause.rawValue) }
}
