import Dispatch
import Synchronization

/// Runs slow work outside the loop and collects its reports.
///
/// Each queue except `checks` runs its work one piece at a time, in order. Plans run on a dispatch queue, because the
/// plan of a whole planet takes seconds of one core.
final class BackgroundExecutor: Sendable {
    private struct State {
        var reports: [Report] = []
        var running = 0
        var plans = 0
        var last: [Queue: Task<Void, Never>] = [:]
        var wake: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())
    private let plans = DispatchQueue(label: "packhorse.coordinator.plans")

    enum Queue {
        /// Manifests.
        case files
        /// Writes to the catalog.
        case catalog
        /// Patches to published packages.
        case patches
        /// Removal of blobs that no job needs any more.
        case removals
        /// Copies of the state file.
        case backups
        /// Automatic backups of the state, which take as long as the place needs; the loop does not expect their reports soon.
        case stateBackups
        /// Reads of the state file that a client waits for.
        case queries
        /// Comparisons of catalogs, which read whole lists.
        case comparisons
        /// Steps after jobs, which take as long as copying a catalog; the loop does not expect their reports soon.
        case steps
        /// Questions to the blob store, all at the same time. The caller bounds their number.
        case checks
    }

    /// Calls `wake` for each new report.
    func onReport(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

    /// Runs `work` and keeps its report for ``collect(_:)``.
    func run(on queue: Queue, _ work: @escaping @Sendable () async -> Report?) {
        state.withLock { state in
            let isSoon = queue != .steps && queue != .stateBackups
            if isSoon { state.running += 1 }
            let before = state.last[queue]
            // The task intentionally outlives this call: the loop learns its end from the report, and ``drain()`` waits
            // for it.
            let task = Task { [self] in
                await before?.value
                end(await work(), wasSoon: isSoon)
            }
            if queue != .checks { state.last[queue] = task }
        }
    }

    /// Makes a plan and keeps its report for ``collect(_:)``.
    func plan(_ work: @escaping @Sendable () -> Report?) {
        state.withLock { state in
            state.running += 1
            state.plans += 1
        }
        plans.async { [self] in
            let report = work()
            state.withLock { $0.plans -= 1 }
            end(report)
        }
    }

    private func end(_ report: Report?, wasSoon: Bool = true) {
        let wake = state.withLock { state in
            if wasSoon { state.running -= 1 }
            if let report { state.reports.append(report) }
            return state.wake
        }
        wake?()
    }

    /// Runs work in turn with that of a queue and waits for its result.
    func value<Value: Sendable>(
        on queue: Queue, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            run(on: queue) {
                do { continuation.resume(returning: try await work()) } catch { continuation.resume(throwing: error) }
                return nil
            }
        }
    }

    /// Cancels the last work of a queue.
    func cancel(_ queue: Queue) { state.withLock { $0.last[queue] }?.cancel() }

    /// The number of plans that wait or are being made.
    var plansWaiting: Int { state.withLock { $0.plans } }

    /// The oldest uncollected reports, at most `limit`.
    func collect(_ limit: Int) -> [Report] {
        state.withLock { state in
            let reports = state.reports.prefix(limit)
            state.reports.removeFirst(reports.count)
            return Array(reports)
        }
    }

    /// Whether a report is waiting.
    var hasReports: Bool { state.withLock { !$0.reports.isEmpty } }

    /// Whether a report may arrive soon.
    var isBusy: Bool { state.withLock { $0.running > 0 } }

    /// Returns when the work handed over so far on all queues except `checks` has ended.
    func drain() async {
        // Publications start the making of patches before they end.
        await state.withLock { $0.last[.catalog] }?.value
        for task in state.withLock({ Array($0.last.values) }) { await task.value }
        // Queries start plans before they end.
        await withCheckedContinuation { continuation in plans.async { continuation.resume() } }
    }
}
