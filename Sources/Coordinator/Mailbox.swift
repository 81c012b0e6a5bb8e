import Dispatch
import Scheduling
import Synchronization
import ZeroMQ

/// What work beside the loop reports back to it.
enum Report: Sendable {
    /// A submission was planned or refused; the answer goes to `peer`.
    case planned(Asker, Result<SubmitPlanner.Plan, SubmitProblem>, isDry: Bool)
    /// A manifest or publication ended.
    case event(Event)
    /// A job's blobs are gone.
    case released(JobID)
    /// A job's blobs could not be removed; the next start tries again.
    case keptBlobs(JobID)
}

/// Whom an answer goes to.
struct Asker: Sendable {
    let peer: PeerID
    let session: SessionID
    let seq: UInt64
}

/// Blocking work beside the loop, and its reports.
///
/// Files are written by one queue, in order; plans are made by another, because a planet takes seconds.
final class Workshop: Sendable {
    private struct State {
        var reports: [Report] = []
        var running = 0
        var plans = 0
    }
    private let state = Mutex(State())
    private let files = DispatchQueue(label: "packhorse.coordinator.files")
    private let plans = DispatchQueue(label: "packhorse.coordinator.plans")

    enum Bench {
        case files
        case plans
    }

    /// Runs `work` on a queue and keeps its report for ``collect()``.
    func run(on bench: Bench, _ work: @escaping @Sendable () -> Report?) {
        state.withLock { state in
            state.running += 1
            if bench == .plans { state.plans += 1 }
        }
        (bench == .files ? files : plans).async { [self] in
            let report = work()
            state.withLock { state in
                state.running -= 1
                if bench == .plans { state.plans -= 1 }
                if let report { state.reports.append(report) }
            }
        }
    }

    /// Plans that wait or are being made.
    var plansWaiting: Int { state.withLock { $0.plans } }

    /// The reports since the last call, oldest first.
    func collect() -> [Report] {
        state.withLock { state in
            defer { state.reports = [] }
            return state.reports
        }
    }

    /// Whether a report is there or may come soon.
    var isBusy: Bool { state.withLock { $0.running > 0 || !$0.reports.isEmpty } }

    /// Returns when all work handed over so far has ended.
    func drain() async {
        for queue in [plans, files] {
            await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        }
    }
}
