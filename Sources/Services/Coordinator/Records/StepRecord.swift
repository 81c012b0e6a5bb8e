import Errors
import GRDB
import Scheduling
import Wire

extension JobStep.State: RecordValue {}

/// A row of a step of a job.
enum StepRecord {
    static let table = RecordTable<JobStep>(
        "step", key: ["job", "number"],
        [
            RecordField("job", log: 0, isFixed: true) { $0.job },
            RecordField("number", log: 1, isFixed: true) { $0.number },
            RecordField("step", log: 2, isFixed: true) { $0.text },
            RecordField("state", log: 3) { $0.state },
            RecordField("attempts", log: 4) { $0.attempts },
            RecordField("retry_at", log: 5) { $0.retryAt },
            RecordField("ended_at", log: 6) { $0.endedAt },
            RecordField("result", log: 7) { $0.result },
            RecordField("cause", log: 8) { $0.cause },
            RecordField("detail", log: 9) { $0.detail },
            RecordField("exit_code", log: 10) { UInt32(clamping: $0.exitStatus.rawValue) },
        ])

    static func step(_ job: JobID, _ field: RecordReader) throws -> JobStep {
        let exitCode: UInt32 = try field("exit_code")
        return JobStep(
            JobStep(job: job, number: try field("number"), text: try field("step")), state: try field("state"),
            attempts: try field("attempts"), retryAt: try field("retry_at"), endedAt: try field("ended_at"),
            result: try field("result"), cause: try field("cause"), detail: try field("detail"),
            exitStatus: ExitStatus(rawValue: Int32(clamping: exitCode)) ?? .badData)
    }
}

extension StateStore {
    /// Removes the rows of a job's steps: it runs again, or it is forgotten.
    static func removeSteps(of job: JobID, in db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM step WHERE job = ?").execute(arguments: [job.key])
    }

    /// The steps that have begun, by job and number.
    static func steps(_ db: Database) throws -> [JobStep] {
        try Row.fetchAll(db, sql: "SELECT * FROM step ORDER BY job, number").map { row in
            try StepRecord.step(
                JobID(key: try row.value("job")),
                RecordReader(row) { "step \(row.text("number")) of job \(row.text("job"))" })
        }
    }
}

extension WireConversions {
    static func step(_ step: JobStep) -> PBStepStatus {
        .make {
            $0.step = step.text
            $0.state = step.state.rawValue
            $0.attempts = step.attempts
            $0.result = step.result
            $0.cause = step.cause
            $0.detail = step.detail
            $0.retryMs = step.retryAt
            $0.endedMs = step.endedAt
            $0.exitCode = UInt32(clamping: step.exitStatus.rawValue)
        }
    }
}
