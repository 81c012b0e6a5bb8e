internal import CZeroMQ
internal import Errors
internal import Foundation
internal import Synchronization

/// Starts the thread that owns the sockets of one link.
enum PollThread {
    /// Runs `body` on a new thread, and waits until it has reported success or failure through its argument.
    ///
    /// - Throws: ``ZeroMQError`` of the failed start.
    static func start<Ready: Sendable>(
        _ name: String, _ body: @escaping @Sendable (_ started: (Result<Ready, ZeroMQError>) -> Void) -> Void
    ) throws(ZeroMQError) -> Ready {
        let start = Start<Ready>()
        let thread = Thread {
            body { start.report($0) }
            start.report(.failure(ZeroMQError(.library, "The thread '\(name)' ended before it started.")))
        }
        thread.name = name
        thread.start()
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
