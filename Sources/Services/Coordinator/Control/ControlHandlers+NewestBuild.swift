import Digests
import Foundation
import Logging
import Scheduling
import Telemetry
import Tilesets
import Wire

/// Schedules over sources whose address changes with each build (docs/decisions/0094).
extension ControlHandlers {
    /// What is known of the last job of a schedule, if it is done.
    func lastBuild(of schedule: String) -> NewestBuildLookup.Last? {
        guard let job = state.scheduler.schedule(schedule)?.lastJob, let spec = state.jobs.spec(of: job),
            let summary = state.scheduler.summary(of: job), summary.state == .done, let build = spec.tileset.build,
            let identity = summary.identity
        else { return nil }
        return NewestBuildLookup.Last(
            build: build, tileset: spec.tileset.canonicalJSON, version: summary.sourceVersion, identity: identity)
    }

    /// Ends a firing whose source has no new build.
    func fireUnchanged(_ firing: Firing, build: String) {
        lookups.end(firing.schedule)
        environment.logger.notice(
            "Schedule fired without a new build",
            metadata: [LogKey.schedule: "\(firing.schedule)", LogKey.sourceBuild: "\(build)"])
        state.handle(.fireUnchanged(schedule: firing.schedule, wall: environment.wall, build: build))
    }

    /// Repeats a look-up later, and ends the firing after a day; with a policy of retries, it ends at once.
    func lookupFailed(_ firing: Firing, _ trouble: Trouble) {
        let hasPolicy = state.scheduler.schedule(firing.schedule)?.retry.count ?? 0 > 0
        guard !hasPolicy else { return fireFailed(firing, trouble, retriable: false) }
        let mayHeal = lookups.fail(firing.schedule, trouble, now: environment.now)
        fireFailed(firing, trouble, retriable: mayHeal)
    }

    /// Submits the job of a schedule that a client runs, with the newest build.
    func newestFound(
        _ result: Result<PBSubmit, SubmitProblem>, schedule: String, _ replyAddress: ReplyAddress
    ) {
        switch result {
        case .success(let body): submit(body, replyAddress)
        case .failure(let problem):
            runFailed(schedule, problem)
            // A source that does not answer may do so later; a wrong file stays wrong until someone changes it.
            let mayHeal = problem.code != "bad-file" && problem.code != "bad-request"
            state.reply(
                WireConversions.problem(problem.code, problem.text, hint: problem.hint, retriable: mayHeal),
                to: replyAddress)
        }
    }

    /// Puts a run by hand that made no job into the history of its schedule.
    ///
    /// - Parameter schedule: Empty = the submission was not of a schedule.
    func runFailed(_ schedule: String, _ problem: SubmitProblem) {
        guard !schedule.isEmpty else { return }
        state.handle(
            .runFailed(
                schedule: schedule, wall: environment.wall,
                Trouble(cause: problem.code, detail: problem.withHint)))
    }
}
