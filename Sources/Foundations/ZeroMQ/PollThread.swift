internal import CZeroMQ
internal import Errors
internal import Foundation
internal import Synchronization

/// Starts the thread that owns the sockets of one link.
enum PollThread {
    /// Runs `body` on a new thread, and waits until it has reported success or failure through its argument.
    ///
    /// - Throws: ``ZeroMQError`` of the failed start; `no-resources` when the system refuses a thread.
    static func start<Ready: Sendable>(
        _ name: String, _ body: @escaping @Sendable (_ started: (Result<Ready, ZeroMQError>) -> Void) -> Void
    ) throws(ZeroMQError) -> Ready {
        let start = Start<Ready>()
        let main = ThreadMain {
            // Shown by debuggers.
            Thread.current.name = name
            body { start.report($0) }
            start.report(.failure(ZeroMQError(.library, "The thread '\(name)' ended before it started.")))
        }
        let context = Unmanaged.passRetained(main)
        var handle = pthread_t()
        // Thread of Foundation does not report that the system refuses a thread, and the wait below would not end.
        let code = pthread_create(
            &handle, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<ThreadMain>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            context.release()
            throw ZeroMQError(
                .noResources, "The thread '\(name)' cannot be started: \(String(cString: strerror(code))).",
                hint: "raise the limits of processes and memory: ulimit -u, ulimit -v")
        }
        pthread_detach(handle)
        return try start.wait().get()
    }

    /// Waits for the first of `items` to become ready, at most until `deadline`.
    ///
    /// - Throws: ``ZeroMQError`` `library-failed`.
    static func poll(_ items: inout [zmq_pollitem_t], until deadline: ContinuousClock.Instant?) throws(ZeroMQError) {
        let wait = deadline.map { max(.zero, $0 - .now) }
        if zmq_poll(&items, Int32(items.count), Int(wait?.milliseconds ?? -1)) < 0, zmq_errno() != EINTR {
            throw Socket.failure("poll")
        }
    }
}

/// What a thread runs.
private final class ThreadMain {
    let run: () -> Void

    init(_ run: @escaping () -> Void) { self.run = run }
}

/// The result of a start.
///
/// The thread reports it once, and its creator waits for it during the milliseconds of a bind.
private final class Start<Ready: Sendable>: Sendable {
    private let result = Mutex<Result<Ready, ZeroMQError>?>(nil)
    private let semaphore = DispatchSemaphore(value: 0)

    func report(_ outcome: Result<Ready, ZeroMQError>) {
        let isFirst = result.withLock { result in
            defer { if result == nil { result = outcome } }
            return result == nil
        }
        if isFirst { semaphore.signal() }
    }

    func wait() -> Result<Ready, ZeroMQError> {
        semaphore.wait()
        return result.withLock { $0 } ?? .failure(ZeroMQError(.library, "The thread reported nothing."))
    }
}
