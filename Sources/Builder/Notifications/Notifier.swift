public import Logging
import Synchronization

/// Delivers the notifications of a log to receivers.
///
/// Each receiver has a task and a connection of its own, so a slow one delays no other. Memory is bounded: each task
/// holds one page of the log.
public final class Notifier: Sendable {
    private let log: any NotificationLog
    private let lanes: [NotifierLane]
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Sends nothing before ``start()``.
    ///
    /// - Throws: `TransferError` `library-failed` when a thread cannot be started.
    public init(_ receivers: [NotificationReceiver], log: any NotificationLog, logger: Logger) throws {
        self.log = log
        lanes = try receivers.map { try NotifierLane($0, log: log, logger: logger) }
    }

    /// Reads the positions of the receivers, and begins to deliver.
    ///
    /// Events that are logged after it returns are delivered, whatever happens to this process.
    ///
    /// - Throws: what the log throws.
    public func start() async throws {
        let positions = try await log.positions(of: lanes.map(\.receiver.id))
        let task = Task { [lanes] in
            await withTaskGroup(of: Void.self) { group in
                for lane in lanes {
                    group.addTask { await lane.run(from: positions[lane.receiver.id] ?? 0) }
                }
            }
        }
        self.task.withLock { $0 = task }
    }

    /// Tells all receivers' tasks that the log has new lines.
    public func wake() {
        for lane in lanes { lane.wake() }
    }

    /// Ends all requests and waits for the tasks.
    ///
    /// What was not answered is sent again after the next start.
    public func stop() async {
        let task = self.task.withLock { task in
            defer { task = nil }
            return task
        }
        task?.cancel()
        await task?.value
    }

    /// The receivers whose last request got no final answer, with the reason.
    public var troubles: [(receiver: NotificationReceiver, trouble: Delivery.Trouble)] {
        lanes.compactMap { lane in lane.trouble.map { (receiver: lane.receiver, trouble: $0) } }
    }
}
