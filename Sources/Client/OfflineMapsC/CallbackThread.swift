import Dispatch
import Foundation
import Synchronization

/// The one thread that calls functions of the app, one after the other.
///
/// It begins with the first call and never ends.
final class CallbackThread: Sendable {
    static let shared: CallbackThread = {
        let thread = CallbackThread()
        thread.begin()
        return thread
    }()

    private let jobs = Mutex<[@Sendable () -> Void]>([])
    private let waiting = DispatchSemaphore(value: 0)
    private let identity = Mutex<ObjectIdentifier?>(nil)

    private func begin() {
        Thread { [self] in work() }.start()
    }

    private func work() -> Never {
        // Linux takes a name from the thread itself alone.
        Thread.current.name = "offlinemaps"
        identity.withLock { $0 = ObjectIdentifier(Thread.current) }
        while true {
            waiting.wait()
            let job = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            job?()
        }
    }

    /// Does a job after those that were given before; returns at once.
    func run(_ job: @escaping @Sendable () -> Void) {
        jobs.withLock { $0.append(job) }
        waiting.signal()
    }

    /// Whether the caller runs on this thread.
    var isCurrent: Bool { identity.withLock { $0 } == ObjectIdentifier(Thread.current) }
}
