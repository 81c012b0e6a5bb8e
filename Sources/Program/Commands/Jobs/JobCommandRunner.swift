internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation
import Notifications
import Synchronization
import Wire

/// Runs a user's command for each notification of a job, one at a time, in the order of the event log.
///
/// It begins with the first event of the job, also when the job began earlier: a script that starts after `submit` must
/// not miss a package.
final class JobCommandRunner: Sendable {
    private let job: UInt64
    private let command: String
    private let kinds: Set<NotificationKind>
    private let client: ControlClient
    private let state = Mutex(State())

    private struct State {
        /// Whether no further events of the job are expected.
        var isOver = false
        /// The exit codes of commands that failed, in order.
        var failures: [Int32] = []
    }

    init(job: UInt64, command: String, kinds: Set<NotificationKind>, client: ControlClient) {
        self.job = job
        self.command = command
        self.kinds = kinds
        self.client = client
    }

    /// The job has ended: what is in the log now is all.
    func end() { state.withLock { $0.isOver = true } }

    /// The exit codes of the commands that failed.
    var failures: [Int32] { state.withLock { $0.failures } }

    /// Runs commands until the job has ended and the last one has ended.
    ///
    /// - Throws: errors of the coordinator, a command that cannot be started, `CancellationError`.
    func run() async throws {
        // The folders of packages are of use only on this machine; other fields are not used.
        let health = try await Patience.outlast { try await client.health() }
        var seen: UInt64 = 0
        while true {
            let (after, isOver) = (seen, state.withLock { $0.isOver })
            let events = try await Patience.outlast {
                try await client.events(
                    after: after, limit: 1_000, wait: isOver ? .zero : .seconds(1), job: job, areNotifications: true)
            }
            for event in events.events {
                let notification = try EventNotification(json: event.notification)
                guard let kind = NotificationKind(name: notification.kind), kinds.contains(kind) else { continue }
                let folder = health.folder(ofCatalog: notification.catalog ?? "")
                try await run(
                    notification, json: Array(event.notification), catalog: folder.map { URL(filePath: $0) })
            }
            seen = events.events.last?.seq ?? seen
            if isOver, events.events.isEmpty { return }
        }
    }

    private func run(_ notification: EventNotification, json: [UInt8], catalog: URL?) async throws {
        let process = EventCommand(command, notification, json: json, catalog: catalog)
        let status = try await process.run()
        Console.note("packhorse: \(notification.kind) (event \(notification.seq)): command ended with \(status)")
        if status != 0 { state.withLock { $0.failures.append(status) } }
    }
}
