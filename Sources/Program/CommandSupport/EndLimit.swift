import Errors
import Foundation
import Logging
import ServiceLifecycle
import Synchronization

/// Ends the process when its services do not end in time after the signal: a disk or a server that hangs must not hold it.
///
/// What was acknowledged is durable, so this loses as little as SIGKILL.
final class EndLimit: Service {
    /// Less than the 60 s after which systemd and Kubernetes kill a coordinator.
    static let patience = Duration.seconds(50)

    private let patience: Duration
    private let logger: Logger
    private let end: @Sendable () -> Void
    private let isOver = Atomic(false)

    /// - Parameter end: Ends the process at once.
    init(
        after patience: Duration = EndLimit.patience, logger: Logger,
        end: @escaping @Sendable () -> Void = { _exit(ExitStatus.temporary.rawValue) }
    ) {
        self.patience = patience
        self.logger = logger
        self.end = end
    }

    /// All services have ended.
    func cancel() { isOver.store(true, ordering: .relaxed) }

    func run() async throws {
        // A group that is cancelled, and not by a signal, has no limit.
        do { try await gracefulShutdown() } catch { return }
        // Not a task: it must not wait for those that hang.
        let latest = DispatchTime.now() + .milliseconds(Int(patience / .milliseconds(1)))
        DispatchQueue.global().asyncAfter(deadline: latest) { [self] in
            guard !isOver.load(ordering: .relaxed) else { return }
            logger.error("The process did not end in time after the signal and ends without waiting; nothing is lost")
            end()
        }
    }
}
