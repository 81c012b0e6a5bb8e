import Catalog
import Foundation
import Logging
import Scheduling
import Telemetry
import Wire

extension ControlHandlers {
    /// Prepares the restart of an ended job: its old batches, or a new plan when its blobs are gone.
    ///
    /// The batches of a planet are read and reset in slices outside the loop.
    func reopen(
        _ id: JobID, only: [BatchIndex]?, permits: PBJobOrder = PBJobOrder(), _ replyAddress: ReplyAddress
    ) {
        if let refusal = state.scheduler.refusal(ofRetry: id) {
            return state.reply(WireConversions.problem(refusal), to: replyAddress)
        }
        let isKept = holdsBlobs(id)
        if isKept, let refusal = supersession(of: id) {
            return state.reply(WireConversions.problem(refusal), to: replyAddress)
        }
        guard isKept || !(state.releases.contains(id) || state.scheduler.isWriting(id)) else {
            return replyBusy("The shards of job \(id) are being removed.", replyAddress)
        }
        guard environment.executor.plansWaiting < environment.options.maxPlans else {
            return replyBusy("\(environment.executor.plansWaiting) submissions are being planned.", replyAddress)
        }
        guard !changingJobs.contains(id) else {
            return replyBusy("Batches of job \(id) are being changed.", replyAddress)
        }
        changingJobs.insert(id)
        let planner = SubmitPlanner(bboxTileLimit: .max)
        let (wall, ended) = (environment.wall, state.jobs.times(of: id)?.ended)
        state.tick.tasks.append(
            .run(.queries) { [store = environment.store, executor = environment.executor] in
                func failed(_ code: String, _ text: String) -> Report {
                    .reopenPlanned(replyAddress, id, only: only, ended: ended, .failure(SubmitProblem(code, text)))
                }
                do {
                    let payload = try await store.submission(of: id)
                    let kept = isKept ? try await store.resetBatches(of: id, only: only, wall: wall) : nil
                    guard let payload, (kept != nil) == isKept else {
                        return failed("busy", "Job \(id) has run again or is forgotten.")
                    }
                    executor.plan {
                        let result = Result { () throws(SubmitProblem) in
                            try planner.reopening(payload, kept: kept, permits: permits, wall: wall)
                        }
                        return .reopenPlanned(replyAddress, id, only: only, ended: ended, result)
                    }
                    return nil
                } catch {
                    return failed("degraded", "The state of job \(id) cannot be read: \(error)")
                }
            })
    }

    /// Plans another limit of file sizes for a job that has not ended; the job goes on meanwhile.
    func remerge(_ order: PBJobOrder, _ replyAddress: ReplyAddress) {
        let id = JobID(order.job)
        let (planner, wall) = (SubmitPlanner(bboxTileLimit: .max), environment.wall)
        state.tick.tasks.append(
            .run(.queries) { [store = environment.store, executor = environment.executor] in
                do {
                    guard let payload = try await store.submission(of: id) else {
                        let problem = SubmitProblem("busy", "Job \(id) is forgotten.")
                        return .remergePlanned(replyAddress, id, .failure(problem))
                    }
                    executor.plan {
                        let result = Result { () throws(SubmitProblem) in
                            try planner.reopening(payload, kept: [], permits: order, wall: wall)
                        }
                        return .remergePlanned(replyAddress, id, result)
                    }
                    return nil
                } catch {
                    let problem = SubmitProblem("degraded", "The state of job \(id) cannot be read: \(error)")
                    return .remergePlanned(replyAddress, id, .failure(problem))
                }
            })
    }

    /// Merges the packages of a job again that has not ended, when nothing refuses it any more.
    func remergePlanned(_ id: JobID, result: Result<Reopening, SubmitProblem>, _ replyAddress: ReplyAddress) {
        switch result {
        case .failure(let problem):
            let mayHeal = ["busy", "degraded"].contains(problem.code)
            state.reply(
                WireConversions.problem(problem.code, problem.text, hint: problem.hint, retriable: mayHeal),
                to: replyAddress)
        case .success(let planned):
            guard state.scheduler.isLiving(id) else { return replyBusy("Job \(id) has ended.", replyAddress) }
            // A limit that the job has already changes nothing.
            guard !planned.payload.isEmpty else {
                return ordered(changed: 0, "job \(id) has this limit already", replyAddress)
            }
            // Its report would be taken for that of the next publication.
            if let package = state.scheduler.packages(of: id).first(where: { $0.state == .publishing }) {
                return replyBusy("Package '\(package.id)' of job \(id) is being published.", replyAddress)
            }
            state.describe(id, planned.spec)
            state.handle(.remerge(id, payload: planned.payload))
            ordered(changed: 1, "job \(id) merges its packages again; its tiles stay", replyAddress)
        }
    }

    func replyBusy(_ text: String, _ replyAddress: ReplyAddress) {
        state.reply(WireConversions.problem("busy", text, hint: "retry in a moment", retriable: true), to: replyAddress)
    }

    /// Refuses a restart when another job has published a newer version of a package since this job ended: the restart
    /// would publish older tiles.
    func supersession(of id: JobID) -> Refusal? {
        let isEnded = state.jobs.times(of: id)?.ended != nil
        let ids = Set(state.scheduler.packages(of: id).filter { !$0.state.isPublished }.map(\.id))
        for job in state.jobs.successors(of: id) {
            let published = state.scheduler.packages(of: job).first { $0.state.isPublished && ids.contains($0.id) }
            guard let published else { continue }
            return Refusal(
                "job-superseded",
                "Job \(job) has published package '\(published.id)' after job \(id), whose tiles are older.",
                hint: isEnded
                    ? "submit it again; tiles that have not changed are not fetched again"
                    : "cancel it and submit it again; tiles that have not changed are not fetched again")
        }
        return nil
    }

    /// Whether an ended job still has its batches with their blobs.
    private func holdsBlobs(_ id: JobID) -> Bool {
        state.scheduler.summary(of: id)?.keepsBlobs == true || environment.options.keepShards
    }

    /// Resumes a job whose restart was prepared.
    ///
    /// - Parameter ended: When the job had ended at the start of the preparation.
    func reopened(
        _ id: JobID, only: [BatchIndex]?, ended: Int64?, result: Result<Reopening, SubmitProblem>,
        replyAddress: ReplyAddress
    ) {
        changingJobs.remove(id)
        let reopening: Reopening
        switch result {
        case .failure(let problem):
            let mayHeal = ["busy", "degraded"].contains(problem.code)
            return state.reply(
                WireConversions.problem(problem.code, problem.text, hint: problem.hint, retriable: mayHeal),
                to: replyAddress)
        case .success(let ready): reopening = ready
        }
        if let refusal = state.scheduler.refusal(ofRetry: id) {
            return state.reply(WireConversions.problem(refusal), to: replyAddress)
        }
        guard reopening.isKept == holdsBlobs(id) else {
            return replyBusy("The shards of job \(id) were being removed.", replyAddress)
        }
        guard state.jobs.times(of: id)?.ended == ended else {
            return replyBusy("Job \(id) has run again.", replyAddress)
        }
        state.describe(id, reopening.spec)
        state.releases.withdraw(id)
        state.handle(
            .reopen(
                id, batches: reopening.batches, isKept: reopening.isKept, needs: reopening.needs, only: only,
                payload: reopening.payload, isApart: !reopening.spec.publish.together,
                mergesAll: reopening.mergesAll))
        let counts = state.scheduler.summary(of: id)?.counts ?? JobCounts()
        let kept =
            counts[.done] == 0 ? "from the start" : "\(counts[.done]) of \(counts.wholeBatches) batches are done"
        environment.logger.info("Job resumed", metadata: [LogKey.job: "\(id)"])
        ordered(changed: Int(clamping: counts[.ready]), "job \(id) resumes: \(kept)", replyAddress)
    }
}
