import Scheduling
import Wire

/// A line of the event log as text for people.
enum EventText {
    static func line(_ change: PBLoggedChange, job: JobID) -> String {
        switch change.change {
        case .jobInserted(let body):
            // The numbers do not come from the plan, which is removed from the line when the job's batches are
            // released.
            "job \(job) submitted: \(body.tiles) tiles in \(body.batches.reduce(0, +)) batches, \(body.packages.count) package\(body.packages.count == 1 ? "" : "s")"
        case .job(let body):
            "job \(job) \(body.state)" + (body.priority < 0 ? ", paused" : "")
                + (body.reason.isEmpty ? "" : ": \(body.reason)")
        case .jobForgotten: "job \(job) forgotten"
        case .batch(let body): "job \(job) batch \(body.index) \(batch(body))"
        case .package(let body): "job \(job) package \(body.id) \(package(body))"
        case .failures(let body): "job \(job) batch \(body.batch): \(body.failures.count) tiles failed"
        case .orphan: "job \(job): a shard that was not accepted is queued for removal"
        case .batchesAdded(let body):
            "job \(job): a batch was split into \(body.batches.count), starting at batch \(body.first)"
        case .jobReopened: "job \(job) resumed"
        case .dropped: "job \(job): failed work was dropped"
        case .schedule(let body): "schedule \(body.id), \(body.every): \(body.fired) fired, \(body.skipped) skipped"
        case .scheduleDropped(let id): "schedule \(id) removed"
        case .originLimit(let body): text(body)
        case nil: "job \(job): a change of a kind unknown to this build"
        }
    }

    private static func text(_ body: PBOriginLimit) -> String {
        let rate = body.perSecond > 0 ? ["\(body.perSecond) requests per second"] : []
        let limits = rate + (body.concurrency > 0 ? ["\(body.concurrency) at once"] : [])
        return "origin \(body.origin): "
            + (limits.isEmpty ? "the operator's limit is removed" : "limited to \(limits.joined(separator: ", "))")
    }

    private static func batch(_ body: PBLoggedBatch) -> String {
        let state = BatchState(rawValue: UInt8(clamping: body.state)).map { "\($0)" } ?? "\(body.state)"
        let trouble = body.cause.isEmpty ? "" : " (\(body.cause): \(body.detail))"
        switch BatchState(rawValue: UInt8(clamping: body.state)) {
        case .done: return "done: \(body.stored) stored, \(body.empty) empty, \(body.failed) failed"
        case .leased: return "leased under token \(LeaseToken(body.token))"
        default: return state + trouble
        }
    }

    private static func package(_ body: PBLoggedPackage) -> String {
        guard let state = PackageState(rawValue: UInt8(clamping: body.state)) else { return "\(body.state)" }
        switch state {
        case .published, .unchanged: return "\(state) as version \(body.version): \(body.path)"
        case .leased: return "leased under token \(LeaseToken(body.token))"
        default: return "\(state)" + (body.cause.isEmpty ? "" : " (\(body.cause): \(body.detail))")
        }
    }
}
