import Foundation
import Logging
import Scheduling
import Telemetry
import Tiles
import Wire

extension CoordinatorEngine {
    /// Carries out an order for a job, or returns the refusal.
    func order(_ body: PBJobOrder, _ asker: Asker) {
        let id = body.job
        if body.order == "retry" {
            if let refusal = scheduler.refusal(ofRetry: id) {
                return reply(WireConversions.problem(refusal), to: asker)
            }
            turn.chores.append(.reopen(asker, id, only: nil, Permits(body)))
            return
        }
        if let refusal = scheduler.refusal(of: id) { return reply(WireConversions.problem(refusal), to: asker) }
        guard let order = Self.order(body), let before = scheduler.summary(of: id) else {
            let text = "'\(body.order.prefix(40))' is not an order. Use pause, resume, retry, prioritise or weigh."
            return reply(WireConversions.problem("bad-request", text), to: asker)
        }
        if Self.wakes(order, before), before.wasPaused, let refusal = superseded(id) {
            return reply(WireConversions.problem(refusal), to: asker)
        }
        take(scheduler.handle(.order(id, order), now: now))
        guard let after = scheduler.summary(of: id) else { return }
        logger.info("Job order received", metadata: [LogKey.job: "\(id)", "packhorse.order": "\(body.order)"])
        ordered(changed: before == after ? 0 : 1, Self.text(order, before, after), asker)
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
    private static func text(_ order: JobOrder, _ before: JobSummary, _ after: JobSummary) -> String {
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

    func ordered(changed: Int, _ text: String, _ asker: Asker) {
        reply(
            .ordered(
                .make {
                    $0.changed = UInt64(changed)
                    $0.text = text
                }), to: asker)
    }

    /// Divides a failing batch along the job's mask.
    func cut(_ cut: CutRequest) {
        guard let spec = specs[cut.job] else { return }
        let parts = BatchPlanner.parts(of: cut.cell, zooms: cut.zooms, mask: spec.mask)
        logger.info(
            "Batch split",
            metadata: [
                LogKey.job: "\(cut.job)", LogKey.batch: "\(cut.batch)", "packhorse.batch.parts": "\(parts.count)",
            ])
        take(scheduler.handle(.splitPlanned(cut.job, batch: cut.batch, parts), now: now))
    }

    // MARK: - Resuming

    /// Prepares the restart of an ended job: its old batches, or a new plan when its blobs are gone.
    func reopen(_ id: JobID, only: [Int]?, permits: Permits = Permits(), _ asker: Asker) async throws {
        if let refusal = scheduler.refusal(ofRetry: id) { return reply(WireConversions.problem(refusal), to: asker) }
        let isKept = holdsBlobs(id)
        if isKept, let refusal = superseded(id) { return reply(WireConversions.problem(refusal), to: asker) }
        guard isKept || !(unreleased.contains(id) || releasing.contains(id) || scheduler.isWriting(id)) else {
            let text = "The shards of job \(id) are being removed."
            return reply(
                WireConversions.problem("busy", text, hint: "retry in a moment", retriable: true), to: asker)
        }
        guard workshop.plansWaiting < options.mostPlans, let remains = try await store.remains(of: id) else {
            let text = "\(workshop.plansWaiting) submissions are being planned."
            return reply(WireConversions.problem("busy", text, hint: "retry in a moment", retriable: true), to: asker)
        }
        let planner = SubmitPlanner(bboxTileLimit: .max)
        let wall = wall
        workshop.plan {
            .reopenPlanned(
                asker, id, only: only,
                Result { () throws(SubmitProblem) in
                    try planner.reopening(
                        remains.payload, kept: isKept ? remains.batches : nil, permits: permits, wall: wall)
                })
        }
    }

    /// Refuses a restart when another job has published a newer version of a package since this job ended: the restart
    /// would publish older tiles.
    private func superseded(_ id: JobID) -> Refusal? {
        guard let own = times[id] else { return nil }
        let isEnded = own.ended != nil
        let ids = Set(scheduler.packages(of: id).filter { !$0.state.isPublished }.map(\.id))
        // A job that has not ended is overtaken by jobs that started after it and are done.
        let since = times.filter { other, times in
            guard other != id, let ended = times.ended else { return false }
            return own.ended.map { ended >= $0 } ?? (times.created > own.created)
        }.keys.sorted()
        for job in since where specs[job]?.edition == specs[id]?.edition {
            let published = scheduler.packages(of: job).first { $0.state.isPublished && ids.contains($0.id) }
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
        scheduler.summary(of: id)?.keepsBlobs == true || options.keepShards
    }

    func reopened(_ id: JobID, only: [Int]?, _ result: Result<Reopening, SubmitProblem>, _ asker: Asker) {
        let reopening: Reopening
        switch result {
        case .failure(let problem):
            return reply(WireConversions.problem(problem.code, problem.text, hint: problem.hint), to: asker)
        case .success(let ready): reopening = ready
        }
        if let refusal = scheduler.refusal(ofRetry: id) { return reply(WireConversions.problem(refusal), to: asker) }
        guard reopening.isKept == holdsBlobs(id) else {
            let text = "The shards of job \(id) were being removed."
            return reply(
                WireConversions.problem("busy", text, hint: "retry in a moment", retriable: true), to: asker)
        }
        specs[id] = reopening.spec
        unreleased.removeAll { $0 == id }
        take(
            scheduler.handle(
                .reopen(
                    id, batches: reopening.batches, needs: reopening.needs, only: only, payload: reopening.payload),
                now: now))
        let counts = scheduler.summary(of: id)?.counts ?? JobCounts()
        let kept =
            counts[.done] == 0 ? "from the start" : "\(counts[.done]) of \(counts.wholeBatches) batches are done"
        logger.info("Job resumed", metadata: [LogKey.job: "\(id)"])
        ordered(changed: Int(clamping: counts[.ready]), "job \(id) resumes: \(kept)", asker)
    }
}

extension SubmitPlanner {
    /// The state from which a stored job continues.
    ///
    /// - Parameter permits: What the retry allows in addition. It is stored with the job, so that it survives a
    ///   restart.
    func reopening(
        _ payload: [UInt8], kept: [Batch]?, permits: Permits = Permits(), wall: Int64
    ) throws(SubmitProblem) -> Reopening {
        let frame: Frame
        do { frame = try Frame(decoding: payload) } catch {
            throw SubmitProblem("internal", "The job's submission cannot be read: \(error)")
        }
        guard case .submit(var body) = frame.message else {
            throw SubmitProblem("internal", "The job's stored payload is not a Submit message.")
        }
        let changed = permits.apply(to: &body) ? try Self.payload(body) : []
        if let kept {
            let spec = try JobSpec(body)
            return Reopening(
                spec: spec, batches: kept, needs: spec.needs(of: kept), isKept: true, payload: changed)
        }
        let plan = try plan(body, wall: wall)
        let batches = plan.submission.batches.map(Batch.init)
        return Reopening(
            spec: plan.spec, batches: batches, needs: plan.spec.needs(of: batches), isKept: false, payload: changed)
    }
}
