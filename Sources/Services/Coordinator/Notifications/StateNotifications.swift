import Foundation
import GRDB
import Notifications
import Scheduling
import Wire

/// The event log of the state file as a log of notifications.
struct StateNotifications: NotificationLog {
    let store: StateStore
    let catalogs: CatalogPlaces

    /// The lines that are notifications, for a query; without the name of the index SQLite reads the whole table.
    static let lines = "event INDEXED BY event_notification WHERE notification IS NOT NULL"

    func positions(of receivers: [String]) async throws -> [String: UInt64] {
        try await store.perform { db in
            let stored = try Row.fetchAll(db, sql: "SELECT id, position FROM notification_receiver")
            // The number of the last line that was ever written: the line itself may have been removed with its job.
            let last = try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'event'") ?? 0
            let known = Dictionary(
                try stored.map { (try $0.value("id") as String, try $0.value("position") as Int64) }
            ) { first, _ in first }
            let wanted = Dictionary(receivers.map { ($0, known[$0] ?? last) }) { first, _ in first }
            try db.execute(sql: "DELETE FROM notification_receiver")
            for (id, position) in wanted {
                try db.execute(sql: "INSERT INTO notification_receiver VALUES (?, ?)", arguments: [id, position])
            }
            return wanted.mapValues { UInt64(clamping: $0) }
        }
    }

    func save(_ position: UInt64, of receiver: String) async throws {
        try await store.perform { db in
            try db.cachedStatement(sql: "UPDATE notification_receiver SET position = ? WHERE id = ?")
                .execute(arguments: [Int64(clamping: position), receiver])
        }
    }

    func notifications(
        after position: UInt64, kinds: Set<NotificationKind>, limit: Int
    ) async throws -> [LoggedNotification] {
        // A kind is a number, so it needs no quotes.
        let numbers = kinds.map { "\($0.rawValue)" }.sorted().joined(separator: ", ")
        return try await store.perform { [catalogs] db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT seq, wall, job, notification, data FROM \(Self.lines)
                        AND notification IN (\(numbers)) AND seq > ? ORDER BY seq LIMIT ?
                    """, arguments: [Int64(clamping: position), limit]
            ).compactMap { try Self.notification($0, catalogs) }
        }
    }

    /// The notification of a row of the log; `nil` for a line without a notification.
    static func notification(_ row: Row, _ catalogs: CatalogPlaces) throws -> LoggedNotification? {
        let number: Int64? = try row.optional("notification")
        guard let kind = number.flatMap(NotificationKind.init(rawValue:)) else { return nil }
        let content = try NotificationContent.make(
            kind, seq: UInt64(clamping: try row.value("seq") as Int64), wall: try row.value("wall"),
            job: JobID(key: try row.value("job")), try row.value("data"), catalogs: catalogs)
        return LoggedNotification(wall: try row.value("wall"), content: content)
    }
}
