import Foundation
import GRDB
import Scheduling
import Wire

extension PastFiring.Trigger: RecordValue {}
extension PastFiring.Result: RecordValue {}

/// A row of the history of a schedule.
enum FiringRecord {
    static let table = RecordTable<PastFiring>(
        "firing", key: ["schedule", "number"],
        [
            RecordField("schedule", log: 1, isFixed: true) { $0.schedule },
            RecordField("number", log: 2, isFixed: true) { $0.number },
            RecordField("at", log: 3) { $0.at },
            RecordField("due", log: 4) { $0.due },
            RecordField("started_by", log: 5) { $0.trigger },
            RecordField("result", log: 6) { $0.result },
            RecordField("job", log: 7) { $0.job },
            RecordField("cause", log: 8) { $0.trouble?.cause },
            RecordField("detail", log: 9) { $0.trouble?.detail },
            RecordField("build", log: 10) { $0.build },
        ])

    static func firing(_ field: RecordReader) throws -> PastFiring {
        PastFiring(
            schedule: try field("schedule"), number: try field("number"), at: try field("at"), due: try field("due"),
            trigger: try field("started_by"), result: try field("result"), job: try field("job"),
            trouble: try field.trouble(), build: try field("build"))
    }
}

extension StateStore {
    /// Writes a firing, and removes those of its schedule that are too many.
    static func put(_ firing: PastFiring, in db: Database) throws {
        try FiringRecord.table.put(firing, db)
        try db.cachedStatement(sql: "DELETE FROM firing WHERE schedule = ? AND number <= ?")
            .execute(arguments: [firing.schedule, Int64(clamping: firing.number) - Int64(PastFiring.kept)])
    }

    /// Writes the result of the firing of a job that has ended, or that was resumed.
    static func endFiring(of job: JobSummary, in db: Database) throws {
        let result: PastFiring.Result =
            switch job.state {
            case .done: .published
            case .failed: .failed
            case .cancelled: .cancelled
            case .fetching, .merging, .publishing: .running
            }
        let cause = job.state == .failed ? "job-failed" : nil
        try db.cachedStatement(
            sql: """
                UPDATE firing SET result = ?1, cause = ?2, detail = ?3
                    WHERE job = ?4 AND job <> 0 AND (result <> ?1 OR ?2 IS NOT NULL)
                """
        ).execute(arguments: [result.rawValue, cause, cause == nil ? nil : String(job.reason.prefix(1_000)), job.key])
    }

    /// The newest firings of a schedule, newest first.
    func firings(of schedule: String) async throws -> [PastFiring] {
        try await perform { db in
            try Row.fetchAll(
                db, sql: "SELECT * FROM firing WHERE schedule = ? ORDER BY number DESC LIMIT ?",
                arguments: [schedule, Int64(PastFiring.kept)]
            ).map { row in
                try FiringRecord.firing(
                    RecordReader(row) { "firing \(row.text("number")) of schedule '\(row.text("schedule"))'" })
            }
        }
    }
}

extension ControlHandlers {
    /// Answers with a schedule and its newest firings.
    func readSchedule(_ body: PBGetSchedule, _ replyAddress: ReplyAddress) {
        guard let schedule = state.scheduler.schedule(body.id) else {
            if let refusal = refusal(ofSchedule: body.id.isEmpty ? "?" : body.id) {
                state.reply(WireConversions.problem(refusal), to: replyAddress)
            }
            return
        }
        let status = status(schedule)
        answer(replyAddress, about: "The history of the schedule") { store in
            let firings = try await store.firings(of: status.id)
            var status = status
            if let payload = try await store.payload(ofSchedule: status.id) {
                // A submission that cannot be read is named when it fires.
                let submission = try? ControlHandlers.submission(payload, of: status.id)
                status.packagesFile = submission?.follows.packages ?? ""
                status.tilesetFile = submission?.follows.tileset ?? ""
                status.catalog = submission?.publish.catalog ?? ""
                status.labels = Set(submission?.labels ?? []).sorted()
            }
            return .scheduleDetail(
                .make {
                    $0.schedule = status
                    $0.firings = firings.map(WireConversions.firing)
                })
        }
    }
}

extension WireConversions {
    static func firing(_ firing: PastFiring) -> PBScheduleFiring {
        .make {
            $0.number = firing.number
            $0.atMs = firing.at
            $0.dueMs = firing.due
            $0.startedBy = firing.trigger.rawValue
            $0.result = firing.result.rawValue
            $0.job = firing.job.rawValue
            $0.cause = firing.trouble?.cause ?? ""
            $0.detail = firing.trouble?.detail ?? ""
            $0.sourceBuild = firing.build
        }
    }
}
