import Dispatch
import Synchronization

/// Runs slow work outside the loop and collects its reports.
///
/// Each queue except `checks` runs its work one piece at a time, in order. Plans run on a dispatch queue, because the
/// plan of a whole planet takes seconds of one core.
final class BackgroundExecutor: Sendable {
    private struct State {
        var reports: [Report] = []
        /// Pieces of work that have not ended.
        var open: [Queue: Int] = [:]
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

        /// Whether the loop expects a report soon.
        fileprivate var isSoon: Bool { self != .steps && self != .stateBackups }
    }

    /// Calls `wake` for each new report.
    func onReport(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

    /// Runs `work` and keeps its report for ``collect(_:)``.
    func run(on queue: Queue, _ work: @escaping @Sendable () async -> Report?) {
        state.withLock { state in
            state.open[queue, default: 0] += 1
            let before = state.last[queue]
            // The task intentionally outlives this call: the loop learns its end from the report, and ``drain()`` waits
            // for it.
            let task = Task { [self] in
                await before?.value
                end(await work()) { $0.open[queue, default: 1] -= 1 }
            }
            if queue != .checks { state.last[queue] = task }
        }
    }

    /// Makes a plan and keeps its report for ``collect(_:)``.
    func plan(_ work: @escaping @Sendable () -> Report?) {
        state.withLock { $0.plans += 1 }
        plans.async { [self] in end(work()) { $0.plans -= 1 } }
    }

    private func end(_ report: Report?, _ count: (inout State) -> Void) {
        let wake = state.withLock { state in
            count(&state)
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
    var isBusy: Bool { state.withLock { $0.plans > 0 || $0.open.contains { $0.key.isSoon && $0.value > 0 } } }

    /// Returns when the work handed over so far on all queues except `checks` has ended, at the latest after `limit`.
    ///
    /// - Returns: The queues whose work has not ended; nobody waits for it any more.
    func drain(within limit: Duration) async -> [String] {
        let (ends, end) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingOldest(1))
        let alarm = Task {
            try await Task.sleep(for: limit)
            end.yield(false)
        }
        defer { alarm.cancel() }
        Task {
            await drain()
            end.yield(true)
        }
        // A task of its own, because the caller may be cancelled and could not wait any more.
        let isDrained = await Task { await ends.first { _ in true } ?? false }.value
        guard !isDrained else { return [] }
        return state.withLock { state in
            let queues = state.open.filter { $0.key != .checks && $0.value > 0 }.map { "\($0.key)" }
            return queues.sorted() + (state.plans > 0 ? ["plans"] : [])
        }
    }

    private func drain() async {
        // Publications start the making of patches before they end.
        await state.withLock { $0.last[.catalog] }?.value
        for task in state.withLock({ Array($0.last.values) }) { await task.value }
        // Queries start plans before they end.
        await withCheckedContinuation { continuation in plans.async { continuation.resume() } }
    }
}
