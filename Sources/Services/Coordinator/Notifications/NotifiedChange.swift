import Foundation
import GRDB
import Notifications
import Scheduling

/// Which lines of the event log are notifications.
///
/// The kind is stored with the line, in its transaction: only there the state before the change is known. A job that has
/// ended, and a published package, are written again for other reasons, without a notification.
extension StoreWrite {
    /// The kind of notification that a change may be, without regard to the state before it.
    var possibleNotification: NotificationKind? {
        switch self {
        case .job(let summary):
            switch summary.state {
            case .done: .jobDone
            case .failed: .jobFailed
            case .cancelled: .jobCancelled
            case .fetching, .merging, .publishing: nil
            }
        case .package(_, _, let package): package.state == .published ? .packagePublished : nil
        case .originBlocked: .originBlocked
        case .schedule(let schedule, _): schedule.attempts.alerts > 0 ? .scheduleFailed : nil
        case .step(let step): step.state == .failed ? .stepFailed : nil
        case .insertJob, .forget, .addBatches, .reopen, .resetBatches, .dropped, .firing, .dropSchedule, .originLimit,
            .batch, .failures, .orphan:
            nil
        }
    }
}

extension StateStore {
    /// The kind of notification that a change is; `nil` = none.
    ///
    /// Call before the change is applied.
    static func notification(of write: StoreWrite, _ db: Database) throws -> NotificationKind? {
        guard let kind = write.possibleNotification else { return nil }
        switch write {
        case .job(let summary):
            let before = try String.fetchOne(
                db.cachedStatement(sql: "SELECT state FROM job WHERE id = ?"), arguments: [summary.key])
            return before.flatMap(JobState.init(rawValue:))?.isFinal == false ? kind : nil
        case .package(let job, let index, _):
            let before = try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT state FROM package WHERE job = ? AND idx = ?"),
                arguments: [job.key, index.number])
            return before == Int64(PackageState.published.rawValue) ? nil : kind
        case .schedule(let schedule, _):
            let before = try UInt64.fetchOne(
                db.cachedStatement(sql: "SELECT alerts FROM schedule WHERE id = ?"), arguments: [schedule.id])
            return schedule.attempts.alerts > before ?? 0 ? kind : nil
        default: return kind
        }
    }

    /// Lines about blocked origins belong to no job, so they are not removed with one.
    static let maxBlocks = 1_000

    /// Removes all lines about blocked origins but the newest.
    static func removeOldBlocks(_ db: Database) throws {
        try db.cachedStatement(
            sql: """
                DELETE FROM event INDEXED BY event_notification WHERE notification = ?1 AND seq <= (
                    SELECT seq FROM event INDEXED BY event_notification WHERE notification = ?1
                        ORDER BY seq DESC LIMIT 1 OFFSET ?2)
                """
        ).execute(arguments: [NotificationKind.originBlocked.rawValue, maxBlocks - 1])
    }
}
