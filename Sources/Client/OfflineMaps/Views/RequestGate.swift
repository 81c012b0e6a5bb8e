internal import Synchronization

/// Keeps the requests to one server within its limits: how many at once, and how many in a second.
final class RequestGate: Sendable {
    private struct State {
        var free: Int
        var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
        var last = 0
        /// When the next request may begin, if no earlier burst is left.
        var next: ContinuousClock.Instant
    }

    private let interval: Duration
    private let burst: Duration
    private let state: Mutex<State>

    /// - Parameters:
    ///   - perSecond: The highest rate; as many as `parallel` may begin at once before it counts.
    ///   - parallel: The most requests at once, at least 1.
    init(perSecond: Double, parallel: Int) {
        let parallel = max(1, min(parallel, 256))
        // 0.001 per second: one request in about a quarter of an hour.
        interval = .seconds(1 / max(0.001, min(perSecond.isNaN ? 1 : perSecond, 1_000_000)))
        burst = interval * (parallel - 1)
        state = Mutex(State(free: parallel, next: .now))
    }

    /// Runs `body` when its turn has come.
    ///
    /// - Returns: `nil` when the caller was cancelled before its turn.
    func pass<Result>(_ body: () async -> Result) async -> Result? {
        guard await enter() else { return nil }
        defer { leave() }
        let start = state.withLock { state in
            let now = ContinuousClock.now
            let start = max(now, state.next - burst)
            state.next = max(now, state.next) + interval
            return start
        }
        if start > .now {
            // A caller that is cancelled while it sleeps sends no request.
            guard (try? await Task.sleep(until: start, clock: .continuous)) != nil else { return nil }
        }
        return Task.isCancelled ? nil : await body()
    }

    private func enter() async -> Bool {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    guard state.free == 0 else {
                        state.free -= 1
                        return true
                    }
                    state.waiting.append((number, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
            }
            waiting?.continuation.resume(returning: false)
        }
    }

    private func leave() {
        let next = state.withLock { state in
            if state.waiting.isEmpty {
                state.free += 1
                return nil as CheckedContinuation<Bool, Never>?
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}
