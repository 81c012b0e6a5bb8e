import Notifications
import Synchronization

/// A log of notifications in memory, with the positions of its receivers.
final class MemoryLog: NotificationLog {
    struct State {
        var notifications: [LoggedNotification] = []
        var positions: [String: UInt64] = [:]
        /// The largest number of notifications that one read returned.
        var largestPage = 0
    }
    private let state = Mutex(State())

    var now: State { state.withLock { $0 } }

    /// Adds notifications with the next numbers.
    func add(_ kind: NotificationKind = .jobDone, count: Int = 1, wall: Int64) {
        state.withLock { state in
            for _ in 0..<count {
                let seq = UInt64(state.notifications.count) + 1
                let content = EventNotification(
                    id: "id\(seq)", seq: seq, kind: kind, wall: wall, state: "done", text: "job \(seq) done")
                state.notifications.append(LoggedNotification(wall: wall, content: content))
            }
        }
    }

    func positions(of receivers: [String]) async throws -> [String: UInt64] {
        state.withLock { state in
            let last = state.notifications.last?.content.seq ?? 0
            state.positions = Dictionary(uniqueKeysWithValues: receivers.map { ($0, state.positions[$0] ?? last) })
            return state.positions
        }
    }

    func save(_ position: UInt64, of receiver: String) async throws {
        state.withLock { $0.positions[receiver] = position }
    }

    func notifications(
        after position: UInt64, kinds: Set<NotificationKind>, limit: Int
    ) async throws -> [LoggedNotification] {
        state.withLock { state in
            let page = state.notifications.filter { notification in
                notification.content.seq > position && kinds.contains { $0.name == notification.content.kind }
            }.prefix(limit)
            state.largestPage = max(state.largestPage, page.count)
            return Array(page)
        }
    }
}
