internal import Dispatch
internal import Synchronization

/// Threads for work that blocks or computes for long.
///
/// They are not those of tasks. Work on a concurrent queue takes the threads of tasks (Linux, Swift 6.3): then each
/// task of the process waits for it, such as the one that accepts connections.
public final class WorkThreads: Sendable {
    @usableFromInline typealias Work = @Sendable () -> Void

    private struct State {
        /// Queues without work; the one that ended last is used first, so that few threads are awake.
        var idle: [DispatchQueue]
        /// Work that waits, oldest last, and what came after it, newest last.
        var waiting: [Work] = []
        var arrived: [Work] = []

        mutating func next() -> Work? {
            if waiting.isEmpty {
                waiting = arrived.reversed()
                arrived = []
            }
            return waiting.popLast()
        }
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - name: The name of the threads in a debugger.
    ///   - count: How much work runs at the same time, at least 1; more waits in its order. A thread exists only while
    ///     it has work, and for some seconds after.
    public init(_ name: String, count: Int) {
        // A serial queue has a thread of its own while it has work.
        state = Mutex(State(idle: (0..<max(1, count)).map { DispatchQueue(label: "\(name).\($0)") }))
    }

    /// Runs `body` on one of the threads, and returns what it returns.
    @inlinable public func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            start { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }

    /// Runs `work` when a thread is free.
    @usableFromInline func start(_ work: @escaping Work) {
        let queue = state.withLock { state -> DispatchQueue? in
            let queue = state.idle.popLast()
            if queue == nil { state.arrived.append(work) }
            return queue
        }
        if let queue { run(work, on: queue) }
    }

    private func run(_ work: @escaping Work, on queue: DispatchQueue) {
        queue.async {
            var next: Work? = work
            while let work = next {
                work()
                next = self.state.withLock { state in
                    let next = state.next()
                    if next == nil { state.idle.append(queue) }
                    return next
                }
            }
        }
    }
}
