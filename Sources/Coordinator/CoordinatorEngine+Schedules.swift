import Foundation
import Logging
import Scheduling
import Telemetry
import Wire

extension CoordinatorEngine {
    /// Passes the wall time to the scheduler when a schedule is due, or when it was set by a clock that ran ahead.
    ///
    /// At most once a second, because a schedule that waits for its job is asked again.
    func fireSchedules() {
        guard now - lastWall >= 1_000, let due = scheduler.nextFiring else { return }
        lastWall = now
        guard due <= wall || scheduler.isAhead(of: wall) else { return }
        take(scheduler.handle(.wall(wall), now: now))
    }

    /// Why a submission of a schedule is refused, or `nil`.
    func refusal(ofSchedule id: String) -> Refusal? {
        guard !id.isEmpty, scheduler.schedule(id) == nil else { return nil }
        return Refusal(
            "unknown-schedule", "There is no schedule '\(id.prefix(80))'.", hint: "packhorse schedule list lists them")
    }

    // MARK: - Storing schedules

    /// Checks a schedule and its submission.
    func put(_ body: PBSchedule, _ asker: Asker) {
        do throws(Refusal) {
            let rule = try CalendarRule(body.every)
            guard SubmitPlanner.isFileSafe(body.id) else {
                throw Refusal(
                    "bad-schedule", "'\(body.id.prefix(80))' cannot name a schedule.",
                    hint:
                        "use 1 to 100 letters, digits and -_.,(), but no dot or hyphen at the start, for example 'monthly-ee'"
                )
            }
            guard scheduler.schedule(body.id) != nil || scheduler.allSchedules.count < Scheduler.mostSchedules else {
                throw Refusal("busy", "There are \(Scheduler.mostSchedules) schedules already.")
            }
            let submission = try Self.submission(Array(body.submission), of: body.id)
            let payload = Array(body.submission)
            let schedule = Schedule(id: body.id, rule: rule, label: String(body.label.prefix(200)), wall: wall)
            let planner = SubmitPlanner(bboxTileLimit: options.bboxTileLimit)
            let wall = wall
            workshop.plan { [publisher] in
                .schedulePlanned(
                    asker, schedule, payload: payload,
                    Result { () throws(SubmitProblem) in
                        try planner.plan(submission, wall: wall).weighed(publisher)
                    })
            }
        } catch {
            reply(WireConversions.problem(error), to: asker)
        }
    }

    func put(
        _ schedule: Schedule, payload: [UInt8], _ result: Result<SubmitPlanner.Plan, SubmitProblem>, _ asker: Asker
    ) {
        switch result {
        case .failure(let problem):
            reply(WireConversions.problem(problem.code, problem.text, hint: problem.hint), to: asker)
        case .success(let plan):
            let isNew = scheduler.schedule(schedule.id) == nil
            take(scheduler.handle(.putSchedule(schedule, payload: payload), now: now))
            let text =
                "schedule \(schedule.id) \(isNew ? "added" : "replaced"): \(schedule.rule), \(plan.tiles) tiles,"
                + " first at \(Self.text(schedule.next))" + plan.warnings.map { "\nwarning: \($0)" }.joined()
            ordered(changed: 1, text, asker)
        }
    }

    func dropSchedule(_ id: String, _ asker: Asker) {
        if let refusal = refusal(ofSchedule: id.isEmpty ? "?" : id) {
            return reply(WireConversions.problem(refusal), to: asker)
        }
        take(scheduler.handle(.dropSchedule(id), now: now))
        ordered(changed: 1, "schedule \(id) removed; its jobs stay", asker)
    }

    func schedules() -> Message {
        .schedules(
            .make {
                $0.schedules = scheduler.allSchedules.map { schedule in
                    .make {
                        $0.id = schedule.id
                        $0.every = schedule.rule.description
                        $0.label = schedule.label
                        $0.nextMs = UInt64(clamping: schedule.next - wall)
                        $0.lastJob = schedule.lastJob
                        $0.fired = schedule.fired
                        $0.skipped = schedule.skipped
                    }
                }
            })
    }

    private static func text(_ wall: Int64) -> String {
        Date(timeIntervalSince1970: Double(wall) / 1_000).formatted(.iso8601)
    }

    private static func submission(_ payload: [UInt8], of id: String) throws(Refusal) -> PBSubmit {
        do {
            guard case .submit(var body) = try Frame(decoding: payload).message else {
                throw Refusal("bad-schedule", "Schedule '\(id)' has no submission.")
            }
            body.schedule = id
            body.dryRun = false
            return body
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw Refusal("bad-schedule", "The submission of schedule '\(id)' cannot be read: \(error)")
        }
    }

    // MARK: - Firing

    /// Submits the job of a schedule at its time, under a request id that names the instant.
    func fire(_ id: String, due: Int64) async throws {
        let firing = Firing(schedule: id, due: due, wall: wall)
        guard workshop.plansWaiting < options.mostPlans, scheduler.livingCount < options.mostOpenJobs else {
            return failed(firing, Trouble(cause: "throttled", detail: "too many jobs are open"), retriable: true)
        }
        guard let payload = try await store.payload(ofSchedule: id) else {
            return failed(firing, Trouble(cause: "internal", detail: "its submission is gone"), retriable: false)
        }
        let planner = SubmitPlanner(bboxTileLimit: .max)
        workshop.plan {
            .firePlanned(
                firing,
                Result { () throws(SubmitProblem) in
                    do throws(Refusal) {
                        var body = try Self.submission(payload, of: id)
                        body.requestID = Firing.requestID(of: id, due: due)
                        return try Self.plan(planner, body, firing)
                    } catch {
                        throw SubmitProblem(error.code, error.text)
                    }
                })
        }
    }

    private static func plan(_ planner: SubmitPlanner, _ body: PBSubmit, _ firing: Firing) throws(Refusal)
        -> SubmitPlanner.Plan
    {
        do {
            return try planner.plan(body, wall: firing.wall, due: firing.due)
        } catch {
            throw Refusal(error.code, error.text)
        }
    }

    func fired(_ firing: Firing, _ result: Result<SubmitPlanner.Plan, SubmitProblem>) {
        switch result {
        case .failure(let problem):
            failed(firing, Trouble(cause: "bad-request", detail: problem.text), retriable: false)
        case .success(let plan):
            guard scheduler.schedule(firing.schedule) != nil, let (job, _) = enter(plan) else { return }
            logger.notice(
                "Schedule fired", metadata: ["packhorse.schedule": "\(firing.schedule)", LogKey.job: "\(job)"])
        }
    }

    private func failed(_ firing: Firing, _ trouble: Trouble, retriable: Bool) {
        logger.warning(
            "Schedule not fired",
            metadata: [
                "packhorse.schedule": "\(firing.schedule)", LogKey.errorCode: "\(trouble.cause)",
                LogKey.errorMessage: "\(trouble.detail)",
            ])
        take(
            scheduler.handle(
                .fireFailed(schedule: firing.schedule, wall: wall, trouble, retriable: retriable), now: now))
    }

    /// Submits the job of a schedule by hand.
    ///
    /// Its calendar does not change.
    func runSchedule(_ body: PBSubmit, _ asker: Asker) async throws {
        if let refusal = refusal(ofSchedule: body.schedule) {
            return reply(WireConversions.problem(refusal), to: asker)
        }
        if let last = scheduler.schedule(body.schedule)?.lastJob, scheduler.isLiving(last) {
            return reply(submitted(last, existing: true), to: asker)
        }
        guard let payload = try await store.payload(ofSchedule: body.schedule) else { return }
        do {
            var submission = try Self.submission(payload, of: body.schedule)
            submission.requestID = body.requestID
            submit(submission, asker)
        } catch {
            reply(WireConversions.problem(error), to: asker)
        }
    }
}
