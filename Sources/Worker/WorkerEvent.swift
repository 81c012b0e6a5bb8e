internal import Wire

/// What can happen to a worker.
enum WorkerEvent: Sendable {
    /// The link to the coordinator came up, or came back.
    case linked
    /// A message about session `about`.
    case message(Message, about: UInt64)
    /// The coordinator speaks another major version.
    case otherVersion(String)
    /// Time has passed; how far the running leases are.
    case tick([UInt64: WorkCounters])
    /// The coordinator should hear of what origins said before the next heartbeat.
    case report
    /// A running lease has ended here.
    case finished(UInt64, WorkOutcome)
    /// Leave in good order.
    case drain
}

/// What the shell must do, in this order.
enum WorkerEffect: Hashable, Sendable {
    case send(Message)
    case run(PBOffer)
    /// Stop the work of this lease; its outcome no longer matters.
    case cancel(UInt64)
    /// Drop the connection and make another.
    case reconnect
    case end(WorkerEnd)
}

/// Why a worker ended.
enum WorkerEnd: Hashable, Sendable {
    /// On demand, in good order.
    case drained
    /// The coordinator will never want this worker.
    case rejected(code: String, text: String)
    /// No coordinator for so long that nobody waits for the results.
    case orphaned
}

/// How far a lease is: tiles settled and body bytes received.
struct WorkCounters: Hashable, Sendable {
    var done: UInt64 = 0
    var bytes: UInt64 = 0
}

/// How the work of a lease ended.
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
    static let mostLostShards = 100

    init(cause: FailureCause, detail: String, retriable: Bool, lostShards: [Digest] = []) {
        self.cause = cause
        self.detail = detail
        self.retriable = retriable
        self.lostShards = Array(lostShards.prefix(Self.mostLostShards))
    }

    /// Whether the fault lies with this machine, so that it should not take other work for a while.
    var isLocal: Bool { FailureCause.local.contains(cause.rawValue) }
}
