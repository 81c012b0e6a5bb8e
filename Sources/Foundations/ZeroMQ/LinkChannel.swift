internal import CZeroMQ
internal import Errors
internal import Foundation
internal import Synchronization

/// The state shared by async callers and the poll thread: an inbox, a queue of jobs, and the descriptor that wakes the
/// thread.
///
/// One lock protects everything. It is never held across a wait, and continuations are resumed outside it.
final class LinkChannel<Item: Sendable, Job: Sendable>: Sendable {
    /// A class: copies of a generic struct look up its type each time.
    private final class Waiter: Sendable {
        let id: UInt64
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<Result<[Item], ZeroMQError>, Never>

        init(
            id: UInt64, deadline: ContinuousClock.Instant,
            continuation: CheckedContinuation<Result<[Item], ZeroMQError>, Never>
        ) {
            self.id = id
            self.deadline = deadline
            self.continuation = continuation
        }
    }

    private struct State {
        var inbox: [Item] = []
        var inboxBytes = 0
        var waiters: [Waiter] = []
        var jobs: [Job] = []
        var nextID: UInt64 = 0
        var wake: Int32
        var wakePending = false
        var stopping = false
        /// Whether the next receiver must not wait.
        var isPoked = false
        var ended: ZeroMQError?
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>
    private let inboxFrames: Int
    private let inboxBytes: Int

    /// - Throws: ``ZeroMQError`` `no-resources` when the process has no descriptors left.
    init(_ options: LinkOptions) throws(ZeroMQError) {
        let wake = ph_wake_open()
        guard wake >= 0 else {
            throw ZeroMQError(
                .noResources, "The process has no file descriptors left.", hint: "raise their number: ulimit -n 1024")
        }
        state = Mutex(State(wake: wake))
        inboxFrames = options.inboxFrames
        inboxBytes = options.inboxBytes
    }

    deinit { state.withLock { if $0.wake >= 0 { _ = Foundation.close($0.wake) } } }

    // MARK: - Callers

    /// Takes all waiting items, or waits for the first ones.
    ///
    /// - Returns: At least one item, or none after the time limit or when the thread called ``interrupt()``.
    /// - Throws: ``ZeroMQError`` `closed`, or `CancellationError`.
    func receive(upTo limit: Duration) async throws -> [Item] {
        try Task.checkCancellation()
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let deadline = ContinuousClock.now + limit
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready: Result<[Item], ZeroMQError>? = state.withLock { state in
                    if !state.inbox.isEmpty {
                        let wasFull = !hasRoom(state)
                        let items = state.inbox
                        state.inbox = []
                        state.inboxBytes = 0
                        if wasFull { signal(&state) }
                        return .success(items)
                    }
                    if let ended = state.ended { return .failure(ended) }
                    if state.isPoked {
                        state.isPoked = false
                        return .success([])
                    }
                    if Task.isCancelled || limit <= .zero { return .success([]) }
                    state.waiters.append(Waiter(id: id, deadline: deadline, continuation: continuation))
                    signal(&state)
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            expire { $0.id == id }
        }
        let items = try result.get()
        if items.isEmpty { try Task.checkCancellation() }
        return items
    }

    /// Queues `job` for the thread.
    ///
    /// Returns `false` when the link has ended and the job will not be handled.
    func submit(_ job: Job) -> Bool {
        state.withLock { state in
            guard state.ended == nil, !state.stopping else { return false }
            state.jobs.append(job)
            signal(&state)
            return true
        }
    }

    /// Asks the thread to end and waits until it has ended.
    ///
    /// Its sockets, context and descriptors are gone then.
    func close() async {
        await withCheckedContinuation { continuation in
            let over = state.withLock { state in
                if state.ended != nil { return true }
                state.stopping = true
                state.closers.append(continuation)
                signal(&state)
                return false
            }
            if over { continuation.resume() }
        }
    }

    /// Asks the thread to end, without waiting.
    func stop() {
        state.withLock { state in
            state.stopping = true
            signal(&state)
        }
    }

    // MARK: - The thread

    /// Whether sockets may be read.
    var hasRoom: Bool { state.withLock { hasRoom($0) } }

    /// The descriptor to poll in addition to the sockets.
    var wakeItem: zmq_pollitem_t {
        zmq_pollitem_t(socket: nil, fd: state.withLock { $0.wake }, events: Int16(ZMQ_POLLIN), revents: 0)
    }

    /// Takes the queued jobs and resets the wake-up.
    func takeJobs() -> (jobs: [Job], stopping: Bool) {
        state.withLock { state in
            if state.wakePending {
                ph_wake_drain(state.wake)
                state.wakePending = false
            }
            defer { state.jobs = [] }
            return (state.jobs, state.stopping)
        }
    }

    /// Puts `items` into the inbox, or hands them to a waiting receiver.
    func deliver(_ items: [Item], bytes: Int) {
        guard !items.isEmpty else { return }
        let handed: (Waiter, [Item])? = state.withLock { state in
            state.inbox += items
            state.inboxBytes += bytes
            guard !state.waiters.isEmpty else { return nil }
            defer {
                state.inbox = []
                state.inboxBytes = 0
            }
            return (state.waiters.removeFirst(), state.inbox)
        }
        if let (waiter, items) = handed { waiter.continuation.resume(returning: .success(items)) }
    }

    /// Ends the wait of every receiver without items, because something else has changed.
    func interrupt() { expire { _ in true } }

    /// Ends the wait of every receiver; if none waits, that of the next one.
    func poke() {
        state.withLock { $0.isPoked = $0.waiters.isEmpty }
        interrupt()
    }

    /// Ends the waits whose time limit has passed.
    func expire(at now: ContinuousClock.Instant) { expire { $0.deadline <= now } }

    /// When the next wait ends.
    var nextDeadline: ContinuousClock.Instant? { state.withLock { $0.waiters.lazy.map(\.deadline).min() } }

    /// The last call of the thread: all waiting callers get the reason, and the descriptor is closed.
    ///
    /// Returns the jobs that were not handled.
    func end(_ reason: ZeroMQError) -> [Job] {
        let (waiters, closers, jobs) = state.withLock { state in
            defer {
                state.waiters = []
                state.closers = []
                state.jobs = []
            }
            state.ended = reason
            _ = Foundation.close(state.wake)
            state.wake = -1
            return (state.waiters, state.closers, state.jobs)
        }
        for waiter in waiters { waiter.continuation.resume(returning: .failure(reason)) }
        for closer in closers { closer.resume() }
        return jobs
    }

    private func expire(_ isOver: (Waiter) -> Bool) {
        let over: [Waiter] = state.withLock { state in
            // Called in every iteration of the thread; mostly no time limit has passed.
            guard state.waiters.contains(where: isOver) else { return [] }
            defer { state.waiters.removeAll(where: isOver) }
            return state.waiters.filter(isOver)
        }
        for waiter in over { waiter.continuation.resume(returning: .success([])) }
    }

    private func hasRoom(_ state: State) -> Bool {
        state.inbox.count < inboxFrames && state.inboxBytes < inboxBytes
    }

    private func signal(_ state: inout State) {
        guard !state.wakePending, state.wake >= 0 else { return }
        state.wakePending = true
        ph_wake_signal(state.wake)
    }
}
