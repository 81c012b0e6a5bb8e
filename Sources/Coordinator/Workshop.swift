import Dispatch
import Synchronization

/// Slow work beside the loop, and its reports.
///
/// Each bench but one works in order, one piece at a time; plans are made on a queue, because a planet takes seconds of one core.
final class Workshop: Sendable {
    private struct State {
        var reports: [Report] = []
        var running = 0
        var plans = 0
        var last: [Bench: Task<Void, Never>] = [:]
        var wake: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())
    private let plans = DispatchQueue(label: "packhorse.coordinator.plans")

    enum Bench {
        /// Manifests.
        case files
        /// The catalog.
        case catalog
        /// Patches to what was published.
        case patches
        /// What no job needs any more.
        case removals
        /// Questions to the blob store, all at once; the asker bounds their number.
        case checks
    }

    /// Calls `wake` whenever a report has come.
    func onReport(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

    /// Runs `work` and keeps its report for ``collect(_:)``.
    func run(on bench: Bench, _ work: @escaping @Sendable () async -> Report?) {
        state.withLock { state in
            state.running += 1
            let before = state.last[bench]
            // Outlives this call on purpose: the loop hears of its end from the report, and ``drain()`` waits for it.
            let task = Task { [self] in
                await before?.value
                end(await work())
            }
            if bench != .checks { state.last[bench] = task }
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

    private func end(_ report: Report?) {
        let wake = state.withLock { state in
            state.running -= 1
            if let report { state.reports.append(report) }
            return state.wake
        }
        wake?()
    }

    /// Plans that wait or are being made.
    var plansWaiting: Int { state.withLock { $0.plans } }

    /// The oldest reports that were not collected yet, at most `limit`.
    func collect(_ limit: Int) -> [Report] {
        state.withLock { state in
            let reports = state.reports.prefix(limit)
            state.reports.removeFirst(reports.count)
            return Array(reports)
        }
    }

    /// Whether a report waits.
    var hasReports: Bool { state.withLock { !$0.reports.isEmpty } }

    /// Whether a report may come soon.
    var isBusy: Bool { state.withLock { $0.running > 0 } }

    /// Returns when all work handed over so far has ended.
    func drain() async {
        await withCheckedContinuation { continuation in plans.async { continuation.resume() } }
        // Publications hand over the making of patches before they end.
        await state.withLock { $0.last[.catalog] }?.value
        for task in state.withLock({ Array($0.last.values) }) { await task.value }
    }
}
