import Foundation
import GRDB
import Scheduling

/// A schedule's row; its submission is a further column.
enum ScheduleRecord {
    static let table = RecordTable<Schedule>(
        "schedule", extra: ["spec"], key: ["id"],
        [
            RecordField("id", log: 1, isFixed: true) { $0.id },
            RecordField("every", log: 2) { $0.rule.description },
            RecordField("label", log: 3) { $0.label },
            RecordField("next", log: 4) { $0.next },
            RecordField("last_job", log: 5) { $0.lastJob },
            RecordField("fired", log: 6) { $0.fired },
            RecordField("skipped", log: 7) { $0.skipped },
            RecordField("cause", log: 8) { $0.trouble?.cause },
            RecordField("detail", log: 9) { $0.trouble?.detail },
            RecordField("unchanged", log: 10) { $0.unchanged },
            RecordField("unchanged_at", log: 11) { $0.unchangedAt },
            RecordField("paused", log: 12) { $0.isPaused },
            RecordField("retry", log: 13) { $0.retry.description },
            RecordField("recorded", log: 14) { $0.attempts.recorded },
            RecordField("failures", log: 15) { $0.attempts.failures },
            RecordField("retry_at", log: 16) { $0.attempts.retryAt },
            RecordField("alerts", log: 17) { $0.attempts.alerts },
            RecordField("alert", log: 18) { $0.attempts.alert },
            RecordField("failed_job", log: 19) { $0.attempts.failedJob },
            RecordField("revision", log: 20) { $0.revision },
        ])

    static func schedule(_ field: RecordReader) throws -> Schedule {
        // The error names the record's field instead.
        guard let rule = try? CalendarRule(try field("every")) else { throw field.unreadable("every") }
        guard let retry = try? RetryPolicy(try field("retry")) else { throw field.unreadable("retry") }
        return Schedule(
            id: try field("id"), rule: rule, label: try field("label"), next: try field("next"),
            lastJob: try field("last_job"), fired: try field("fired"), skipped: try field("skipped"),
            unchanged: try field("unchanged"), unchangedAt: try field("unchanged_at"),
            isPaused: try field("paused"), trouble: try field.trouble(), retry: retry,
            attempts: Schedule.Attempts(
                recorded: try field("recorded"), failures: try field("failures"), retryAt: try field("retry_at"),
                alerts: try field("alerts"), alert: try field("alert"),
                failedJob: try field("failed_job")),
            revision: try field("revision"))
    }
}

extension StateStore {
    static func schedules(_ db: Database) throws -> [Schedule] {
        try Row.fetchAll(db, sql: "SELECT * FROM schedule ORDER BY id").map { row in
            try ScheduleRecord.schedule(RecordReader(row) { "schedule '\(row.text("id"))'" })
        }
    }

    /// Writes a schedule, with its submission if that is new.
    static func put(_ schedule: Schedule, payload: [UInt8]?, in db: Database) throws {
        if let payload {
            try ScheduleRecord.table.insert(schedule, extra: [Data(payload)], db)
        } else {
            try ScheduleRecord.table.update(schedule, further: [schedule.id], db)
        }
    }
}
