import Foundation
import Logging
import Packages
import Scheduling
import Shards
import Telemetry
import Wire

extension ControlHandlers {
    /// A request id names one submission.
    ///
    /// Returns a refusal if a different submission uses the same id.
    private func refusal(of body: PBSubmit, sharingRequestIDWith job: JobID) -> Refusal? {
        // A submission of a schedule's run names no packages; jobs of earlier builds have no identity.
        guard !body.packages.isEmpty, let spec = state.jobs.spec(of: job),
            let known = state.scheduler.summary(of: job)?.identity,
            // A submission without an identity cannot be compared, and counts as the same one.
            let asked = try? SubmitPlanner.identity(body), asked != known
        else { return nil }
        return Refusal(
            "bad-request",
            "request id '\(body.requestID)' belongs to job \(job), \(spec.label) of \(spec.tileset.id) at zoom \(spec.zooms), and this submission is different.",
            hint: "use another --request-id for another job")
    }

    /// Plans a submission outside the loop.
    ///
    /// Its job is made when the plan arrives.
    func submit(_ body: PBSubmit, _ replyAddress: ReplyAddress) {
        if !body.dryRun, let job = state.scheduler.job(requestID: body.requestID) {
            let refusal = refusal(of: body, sharingRequestIDWith: job)
            state.reply(refusal.map { WireConversions.problem($0) } ?? submitted(job, existing: true), to: replyAddress)
            return
        }
        if !body.schedule.isEmpty, body.packages.isEmpty {
            state.tick.tasks.append(.runSchedule(replyAddress, body))
            return
        }
        if let refusal = state.scheduler.refusal(after: body.after.map { JobID($0) })
            ?? refusal(ofSchedule: body.schedule)
        {
            state.reply(WireConversions.problem(refusal), to: replyAddress)
            return
        }
        // Each waiting plan holds its submission, up to 4 MiB.
        guard environment.executor.plansWaiting < environment.options.maxPlans,
            state.scheduler.livingCount < environment.options.maxOpenJobs
        else {
            state.reply(
                WireConversions.problem(
                    "busy",
                    "\(state.scheduler.livingCount) jobs are open and \(environment.executor.plansWaiting) submissions are being planned.",
                    hint: "submit it again when some jobs have ended", retriable: true), to: replyAddress)
            return
        }
        let planner = SubmitPlanner(bboxTileLimit: environment.options.bboxTileLimit)
        let wall = environment.wall
        environment.executor.plan { [catalogs = environment.catalogs] in
            let result = Result { () throws(SubmitProblem) in
                let plan = try planner.plan(body, wall: wall)
                return body.schedule.isEmpty ? try plan.checked(against: catalogs) : try plan.ofSchedule(in: catalogs)
            }
            return .planned(replyAddress, result, isDry: body.dryRun, schedule: body.schedule)
        }
    }

    func submitted(_ job: JobID, existing: Bool, warnings: [String] = []) -> Message {
        let counts = state.scheduler.summary(of: job)?.counts ?? JobCounts()
        return .submitted(
            .make {
                $0.job = job.rawValue
                $0.tiles = counts.tiles
                $0.batches = counts.wholeBatches
                $0.existing = existing
                $0.warnings = warnings
            })
    }

    private func conflictWarnings(of plan: SubmitPlanner.Plan) -> [String] {
        plan.conflicts(
            with: state.jobs.specs { state.scheduler.isLiving($0) })
    }

    /// Creates the job of a plan, or finds the existing job of the same submission.
    func makeJob(of plan: SubmitPlanner.Plan) -> (job: JobID, existing: Bool)? {
        guard let (job, existing) = state.submit(plan.submission, plan.spec) else { return nil }
        environment.logger.info(
            "Job submitted",
            metadata: [
                LogKey.job: "\(job)", LogKey.tiles: "\(plan.tiles)",
                LogKey.isExisting: "\(existing)",
            ])
        for warning in plan.warnings {
            environment.logger.warning(
                "Job submitted with a warning", metadata: [LogKey.job: "\(job)", LogKey.warning: "\(warning)"])
        }
        return (job, existing)
    }

    /// Handles the plan of a submission.
    ///
    /// - Parameter schedule: The schedule that is run by hand; empty = none.
    func planned(
        _ result: Result<SubmitPlanner.Plan, SubmitProblem>, isDry: Bool, schedule: String,
        _ replyAddress: ReplyAddress
    ) {
        switch result {
        case .failure(let problem):
            if !isDry { runFailed(schedule, problem) }
            state.reply(WireConversions.problem(problem.code, problem.text, hint: problem.hint), to: replyAddress)
        case .success(let plan) where isDry:
            state.reply(
                .submitted(
                    .make {
                        $0.tiles = plan.tiles
                        $0.batches = UInt64(plan.submission.batches.count)
                        $0.warnings = plan.warnings + conflictWarnings(of: plan)
                    }), to: replyAddress)
        case .success(var plan):
            plan.warnings += conflictWarnings(of: plan)
            guard let (job, existing) = makeJob(of: plan) else { return }
            state.reply(submitted(job, existing: existing, warnings: plan.warnings), to: replyAddress)
        }
    }
}
