import Foundation
import Logging
import Scheduling
import Telemetry
import Tiles
import Wire

extension ControlHandlers {
    /// Carries out an order for a job, or returns the refusal.
    func order(_ body: PBJobOrder, _ replyAddress: ReplyAddress) {
        let id = JobID(body.job)
        if body.order == "retry" {
            if body.setsMaxFile, state.scheduler.isLiving(id) { return remerge(body, replyAddress) }
            if let failed = state.steps.all(of: id).failed { return retry(failed, by: body, replyAddress) }
            if let refusal = state.scheduler.refusal(ofRetry: id) {
                return state.reply(WireConversions.problem(refusal), to: replyAddress)
            }
            state.tick.tasks.append(.reopen(replyAddress, id, only: nil, body))
            return
        }
        if let refusal = state.scheduler.refusal(of: id) {
            return state.reply(WireConversions.problem(refusal), to: replyAddress)
        }
        guard let order = Self.order(body), let before = state.scheduler.summary(of: id) else {
            let text = "'\(body.order.prefix(40))' is not an order. Use pause, resume, retry, prioritise or weigh."
            return state.reply(WireConversions.problem("bad-request", text), to: replyAddress)
        }
        if Self.wakes(order, before), before.wasPaused, let refusal = supersession(of: id) {
            return state.reply(WireConversions.problem(refusal), to: replyAddress)
        }
        state.handle(.order(id, order))
        guard let after = state.scheduler.summary(of: id) else { return }
        environment.logger.info("Job order received", metadata: [LogKey.job: "\(id)", LogKey.order: "\(body.order)"])
        ordered(changed: before == after ? 0 : 1, Self.text(order, before: before, after: after), replyAddress)
    }

    /// Whether the order resumes a paused job.
    private static func wakes(_ order: JobOrder, _ job: JobSummary) -> Bool {
        guard job.priority < 0 else { return false }
        return switch order {
        case .resume: true
        case .prioritise(let wanted): wanted >= 0
        case .pause, .weigh: false
        }
    }

    private static func order(_ body: PBJobOrder) -> JobOrder? {
        switch body.order {
        case "pause": .pause
        case "resume": .resume
        case "prioritise": .prioritise(body.priority)
        case "weigh": .weigh(body.weight)
        default: nil
        }
    }

    /// The result of an order as text.
    private static func text(_ order: JobOrder, before: JobSummary, after: JobSummary) -> String {
        let id = after.id
        if case .weigh = order {
            return "job \(id) has weight \(after.weight)" + (before.weight == after.weight ? " already" : "")
        }
        guard before.priority != after.priority else {
            return after.priority < 0 ? "job \(id) was paused already" : "job \(id) is unchanged"
        }
        if after.priority < 0 {
            let taken = before.counts[.leased]
            return "job \(id) is paused" + (taken == 0 ? "" : "; \(taken) running batches were taken back")
        }
        return before.priority < 0
            ? "job \(id) resumes with priority \(after.priority)" : "job \(id) has priority \(after.priority)"
    }
}
