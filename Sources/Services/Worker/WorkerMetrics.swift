internal import Errors
internal import MetricsFormat
internal import Origins
internal import Scheduling
internal import Synchronization
internal import ZeroMQ

/// What a worker has counted since its start; no count falls.
final class WorkerMetrics: Sendable {
    /// What failed a check.
    enum Reject: String, Sendable, CaseIterable {
        case batch, source, body, shard
    }

    /// The kind of a lease's work.
    enum Work: String, Sendable, CaseIterable {
        case fetch, merge
    }

    struct State: Sendable {
        var found: UInt64 = 0
        var empty: UInt64 = 0
        var notModified: UInt64 = 0
        var failed: [FailureCause: UInt64] = [:]
        var received: UInt64 = 0
        var durations: [OriginFactory.RequestKind: Histogram] = [:]
        var ended: [Work: [Outcome: UInt64]] = [:]
        var failures: [FailureCause: UInt64] = [:]
        var returned: UInt64 = 0
        var refused: UInt64 = 0
        var held = WorkerLeases.Counts()
        var shardBytes: UInt64 = 0
        var uploads: UInt64 = 0
        var uploadedBytes: UInt64 = 0
        var rejects: [Reject: UInt64] = [:]
        var connections: UInt64 = 0
        var isConnected = false
        var heard = ContinuousClock.now
        var obeyed = ObeyedEpoch()
    }

    /// How a lease ended.
    enum Outcome: String, Sendable, CaseIterable {
        case done, failed, cancelled
    }

    let state = Mutex(State())

    /// Counts tiles that an origin answered.
    func add(_ tiles: [FetchedTile]) {
        state.withLock { state in
            for tile in tiles {
                state.received &+= UInt64(clamping: tile.received)
                switch tile.outcome {
                case .stored: state.found += 1
                case .empty: state.empty += 1
                case .unchanged: state.notModified += 1
                case .failed(let cause, _):
                    state.failed[cause.cause, default: 0] += 1
                    if cause.cause.isOfBody { state.rejects[.body, default: 0] += 1 }
                }
            }
        }
    }

    /// Counts an answered request.
    func addRequest(_ kind: OriginFactory.RequestKind, _ duration: Duration) {
        state.withLock { $0.durations[kind, default: Histogram()].add(duration / .seconds(1)) }
    }

    /// Counts the end of a lease.
    func add(_ outcome: WorkOutcome, of work: Work) {
        state.withLock { state in
            switch outcome {
            case .done: state.ended[work, default: [:]][.done, default: 0] += 1
            case .cancelled: state.ended[work, default: [:]][.cancelled, default: 0] += 1
            case .failed(let failure):
                state.ended[work, default: [:]][.failed, default: 0] += 1
                state.failures[failure.cause, default: 0] += 1
                if failure.cause == .badBatch { state.rejects[.batch, default: 0] += 1 }
                if failure.cause == .shardCorrupt {
                    state.rejects[.shard, default: 0] += UInt64(failure.lostShards.count)
                }
            }
        }
    }

    func addReject(_ what: Reject) { state.withLock { $0.rejects[what, default: 0] += 1 } }
    func addReturned(_ count: Int) { state.withLock { $0.returned += UInt64(count) } }
    func addRefused() { state.withLock { $0.refused += 1 } }
    func addShard(bytes: UInt64) { state.withLock { $0.shardBytes &+= bytes } }

    /// Counts a blob that is in the store.
    func addUpload(bytes: UInt64) {
        state.withLock { state in
            state.uploads += 1
            state.uploadedBytes &+= bytes
        }
    }

    func setHeld(_ held: WorkerLeases.Counts) { state.withLock { $0.held = held } }

    /// A message of the coordinator came.
    func recordMessage() { state.withLock { $0.heard = .now } }

    /// Which coordinator is obeyed, and how many messages of others came.
    func setObeyed(_ obeyed: ObeyedEpoch) { state.withLock { $0.obeyed = obeyed } }

    /// The state of the connection changed.
    func recordLink(_ link: LinkState) {
        state.withLock { state in
            state.isConnected = link == .connected
            if link == .connected { state.connections += 1 }
        }
    }
}
