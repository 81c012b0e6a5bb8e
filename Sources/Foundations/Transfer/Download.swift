import Synchronization

/// One caller's stream of requests and results on a ``TransferClient``.
///
/// Requests are submitted in batches, and results are taken in batches: one suspension per batch, because one per tile
/// costs nine tenths of the rate. The caller limits what is under way by submitting no more than it has taken back.
/// Only one task may take results at a time.
public final class Download: Sendable {
    private struct State {
        var ready: [TransferResult] = []
        var pending = 0
        var wanted = 1
        var readySince: ContinuousClock.Instant?
        var waiter: CheckedContinuation<[TransferResult], Never>?
        var isCancelled = false
    }
    private let state = Mutex(State())
    private let loop: TransferLoop
    /// Results wait this long for others before they are handed out.
    static let batchDelay: Duration = .milliseconds(5)

    init(loop: TransferLoop) { self.loop = loop }

    deinit { cancel() }

    /// Requests that were submitted and not taken back.
    public var underWay: Int { state.withLock { $0.pending + $0.ready.count } }

    /// Submits requests.
    ///
    /// Returns at once.
    public func submit(_ requests: [TransferRequest]) {
        guard !requests.isEmpty else { return }
        let now = ContinuousClock.now
        let isOpen = state.withLock { state in
            guard !state.isCancelled else { return false }
            state.pending += requests.count
            return true
        }
        let jobs = requests.map { TransferJob($0, download: self, at: now) }
        if !isOpen || !loop.submit(jobs) {
            deliver(
                requests.map {
                    TransferResult(tag: $0.tag, outcome: .failure(TransferLoop.closedError), elapsed: .zero)
                }, pendingToo: isOpen)
        }
    }

    /// Waits for results: `wanted` of them, or those that arrive within a few milliseconds, or all that are left.
    ///
    /// A cancelled task gets the existing results, including `cancelled` ones.
    /// - Returns: At least one result, in the order of completion; empty only when nothing is under way.
    public func next(wanted: Int = 64) async -> [TransferResult] {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: [TransferResult]? = state.withLock { state in
                    state.wanted = max(1, wanted)
                    if state.ready.count >= state.wanted || state.pending == 0 || state.waiter != nil {
                        return Self.takeReady(&state)
                    }
                    state.waiter = continuation
                    return nil
                }
                if let now { continuation.resume(returning: now) } else { loop.wake() }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Ends all requests with `cancelled`, also later ones.
    public func cancel() {
        let isFirst = state.withLock { state in
            defer { state.isCancelled = true }
            return !state.isCancelled
        }
        if isFirst { loop.cancelled() }
    }

    /// Whether ``cancel()`` was called.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Adds results from the transfer thread.
    func deliver(_ results: [TransferResult], pendingToo: Bool = true) {
        let now = ContinuousClock.now
        resume { state in
            if pendingToo { state.pending -= results.count }
            state.ready += results
            if state.readySince == nil { state.readySince = now }
            return state.ready.count >= state.wanted || state.pending == 0
        }
    }

    /// Hands out results that have waited long enough.
    ///
    /// - Returns: The time until the next call is due, or `nil` when no result waits.
    func flush(at now: ContinuousClock.Instant) -> Duration? {
        var left: Duration?
        resume { state in
            guard state.waiter != nil, let since = state.readySince else { return false }
            let wait = Self.batchDelay - (now - since)
            if wait > .zero { left = wait }
            return wait <= .zero
        }
        return left
    }

    private func resume(when isReady: (inout State) -> Bool) {
        let found: (CheckedContinuation<[TransferResult], Never>, [TransferResult])? = state.withLock { state in
            guard isReady(&state), let waiter = state.waiter else { return nil }
            state.waiter = nil
            return (waiter, Self.takeReady(&state))
        }
        if let (waiter, results) = found { waiter.resume(returning: results) }
    }

    private static func takeReady(_ state: inout State) -> [TransferResult] {
        defer {
            state.ready = []
            state.readySince = nil
        }
        return state.ready
    }
}
