import Logging
import Scheduling
import Telemetry
import Wire

extension ControlHandlers {
    /// The steps of a job: those of one that is done, or those that its submission has.
    func steps(of job: JobID) -> [JobStep] {
        let known = state.steps.all(of: job)
        guard known.isEmpty else { return known }
        return state.jobs.steps(of: job).enumerated().map { JobStep(job: job, number: $0 + 1, text: $1) }
    }

    /// Continues the steps of a job at the one that failed, with new attempts.
    func retry(_ step: JobStep, by body: PBJobOrder, _ replyAddress: ReplyAddress) {
        guard !body.apart, !body.setsMaxFile, !body.publish.allowsShrink, !body.publish.replacesArea else {
            let text = "Job \(step.job) is done; only its steps are tried again, which no option changes."
            return state.reply(
                WireConversions.problem(
                    "bad-request", text,
                    hint: "promote what is smaller with: packhorse catalog promote STAGING LIVE --max-shrink 100%"),
                to: replyAddress)
        }
        state.collect([.store(.step(step.again))])
        environment.logger.info("Job order received", metadata: [LogKey.job: "\(step.job)", LogKey.order: "retry"])
        let count = state.steps.all(of: step.job).count
        ordered(
            changed: 1, "job \(step.job) continues with step \(step.number) of \(count): \(step.text)", replyAddress)
    }
}
