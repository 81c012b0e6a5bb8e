internal import Synchronization
internal import Wire

/// The progress of one lease: written by its work, read by the report.
///
/// Also used to stop work that blocks a thread.
final class WorkMeter: Sendable {
    private struct State {
        var counters = WorkCounters()
        var isCancelled = false
    }

    /// The meter of the lease of the running task.
    @TaskLocal static var current: WorkMeter?

    private let state = Mutex(State())

    var counters: WorkCounters { state.withLock { $0.counters } }
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func add(done: Int, bytes: Int) {
        state.withLock {
            $0.counters.done &+= UInt64(clamping: done)
            $0.counters.bytes &+= UInt64(clamping: bytes)
        }
    }

    func set(done: UInt64) { state.withLock { $0.counters.done = max($0.counters.done, done) } }

    /// Counts a step of work that completes no tile, so that long work does not count as stalled.
    func countStep() { state.withLock { $0.counters.bytes &+= 1 } }

    func cancel() { state.withLock { $0.isCancelled = true } }
}

/// Carries out leases.
protocol WorkRunner: Sendable {
    /// Runs until the result is durable, the work failed, or the task is cancelled.
    func run(_ offer: PBOffer, _ meter: WorkMeter) async -> WorkOutcome
}
