import Scheduling
internal import TextFormats
import Wire

/// A line of the event log as text for people.
enum EventText {
    /// - Throws: ``CoordinatorError`` `damaged-state`.
    static func line(_ change: PBLoggedChange, job: JobID) throws -> String {
        let line = { "a line of the event log for job \(job)" }
        switch change.change {
        case .jobInserted(let body):
            return inserted(
                try JobRecord.summary(job, try JobRecord.table.reader(body.row, line)), packages: body.packages.count)
        case .job(let row):
            let summary = try JobRecord.summary(job, try JobRecord.table.reader(row, line))
            return "job \(job) \(summary.state.rawValue)" + (summary.priority < 0 ? ", paused" : "")
                + (summary.reason.isEmpty ? "" : ": \(summary.reason)") + transfer(summary)
        case .jobForgotten: return "job \(job) forgotten"
        case .batch(let row): return "job \(job) batch \(try batch(try BatchRecord.table.reader(row, line)))"
        case .package(let body):
            return "job \(job) package \(try package(try PackageRecord.table.reader(body.row, line)))"
        case .failures(let body):
            return "job \(job) batch \(body.batch): \(Units.count(body.failures.count, of: "tile")) failed"
        case .orphan: return "job \(job): a shard that was not accepted is queued for removal"
        case .batchesAdded(let body):
            return "job \(job): a batch was split into \(body.batches.count), starting at batch \(body.first)"
        case .jobReopened(let body):
            return body.hasJob
                ? "job \(job) resumed"
                : "job \(job): \(Units.count(body.batches.count, of: "batch")) \(body.batches.count == 1 ? "is" : "are") ready for another attempt"
        case .dropped: return "job \(job): failed work was dropped"
        case .schedule(let row):
            let schedule = try ScheduleRecord.schedule(try ScheduleRecord.table.reader(row, line))
            return "schedule \(schedule.id), \(schedule.rule): \(schedule.fired) fired, \(schedule.skipped) skipped"
                + (schedule.unchanged > 0 ? ", \(schedule.unchanged) without a new build" : "")
                + (schedule.attempts.alert.isEmpty ? "" : "; last failure: \(schedule.attempts.alert)")
        case .firing(let row): return text(try FiringRecord.firing(try FiringRecord.table.reader(row, line)))
        case .step(let row): return text(try StepRecord.step(job, try StepRecord.table.reader(row, line)))
        case .scheduleDropped(let id): return "schedule \(id) removed"
        case .originLimit(let body): return text(body)
        case .originBlock(let body): return WireConversions.block(body).text
        case nil: return "job \(job): a change of a kind unknown to this build"
        }
    }

    /// The numbers do not come from the plan, which is removed from the line when the job's batches are released.
    private static func inserted(_ job: JobSummary, packages: Int) -> String {
        "job \(job.id) submitted: \(Units.count(job.counts.tiles, of: "tile")) in "
            + "\(Units.count(job.counts.totalBatches, of: "batch")), \(Units.count(packages, of: "package"))"
    }

    /// What a job over unchanged tiles received, when it has ended.
    private static func transfer(_ job: JobSummary) -> String {
        let counts = job.counts
        guard job.state == .done, counts.notSent > 0 || counts.receivedAgain > 0 else { return "" }
        return "; \(Units.bytes(counts.received)) received, \(Units.bytes(counts.receivedAgain)) of it for nothing,"
            + " \(Units.bytes(counts.notSent)) not sent"
    }

    private static func text(_ firing: PastFiring) -> String {
        let job = firing.job == 0 ? firing.result.rawValue : "job \(firing.job)"
        return "schedule \(firing.schedule), firing \(firing.number) (\(firing.trigger.rawValue)): \(job)"
            + cause(firing.trouble)
    }

    private static func text(_ step: JobStep) -> String {
        let end = step.state == .waiting && !step.cause.isEmpty ? ", tried again later" : ""
        return "job \(step.job) step \(step.number) \(step.text) \(step.state.rawValue)\(end)"
            + (step.state == .done && !step.result.isEmpty ? ": \(step.result)" : "")
            + (step.cause.isEmpty ? "" : " (\(step.cause): \(step.detail))")
    }

    private static func text(_ body: PBOriginLimit) -> String {
        let rate = body.perSecond > 0 ? ["\(body.perSecond) requests per second"] : []
        let bytes = body.bytesPerSecond > 0 ? ["\(Units.bytes(UInt64(min(body.bytesPerSecond, 1e15)))) per second"] : []
        let limits = rate + (body.concurrency > 0 ? ["\(body.concurrency) at once"] : []) + bytes
        return "origin \(body.origin): "
            + (limits.isEmpty ? "the operator's limit is removed" : "limited to \(limits.joined(separator: ", "))")
    }

    private static func batch(_ field: RecordReader) throws -> String {
        let (index, state): (Int, BatchState) = (try field("idx"), try field("state"))
        switch state {
        case .done:
            let (stored, empty, failed): (UInt64, UInt64, UInt64) =
                (try field("stored"), try field("empty"), try field("failed"))
            return "\(index) done: \(stored) stored, \(empty) empty, \(failed) failed"
        case .leased: return "\(index) leased under token \(try field("token") as LeaseToken)"
        case .ready, .backoff, .dead, .split: return "\(index) \(state)" + cause(try field.trouble())
        }
    }

    private static func package(_ field: RecordReader) throws -> String {
        let package = try PackageRecord.package(field, [])
        let start = "\(package.id) \(package.state)"
        switch package.state {
        case .published, .unchanged: return "\(start) as version \(package.version): \(package.path)"
        case .leased: return "\(start) under token \(package.token ?? LeaseToken(0))"
        case .waiting, .manifest, .ready, .backoff, .publishing, .failed: return start + cause(package.trouble)
        }
    }

    private static func cause(_ trouble: Trouble?) -> String {
        trouble.map { " (\($0.cause): \($0.detail))" } ?? ""
    }
}
