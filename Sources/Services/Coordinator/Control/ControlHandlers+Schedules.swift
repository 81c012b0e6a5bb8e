import Foundation
import Logging
import Scheduling
import Telemetry
internal import TextFormats
import Tilesets
import Wire

extension ControlHandlers {
    /// Passes the wall time to the scheduler when a schedule is due, or when it was set by a clock that ran ahead.
    ///
    /// At most once a second, because a schedule that waits for its job is asked again.
    func fireSchedules() {
        guard environment.now - lastScheduleCheck >= 1_000, let due = state.scheduler.nextFiring else { return }
        lastScheduleCheck = environment.now
        let wall = environment.wall
        guard due <= wall || state.scheduler.isAhead(of: wall) else { return }
        state.handle(.wall(wall))
    }

    /// Why a submission of a schedule is refused, or `nil`.
    func refusal(ofSchedule id: String) -> Refusal? {
        guard !id.isEmpty, state.scheduler.schedule(id) == nil else { return nil }
        return Refusal(
            "unknown-schedule", "There is no schedule '\(id.prefix(80))'.", hint: "packhorse schedule list lists them")
    }

    // MARK: - Storing schedules

    /// Checks a schedule and its submission.
    func put(_ body: PBSchedule, _ replyAddress: ReplyAddress) {
        do throws(Refusal) {
            let rule = try CalendarRule(body.every)
            guard SubmitPlanner.isFileSafe(body.id) else {
                throw Refusal(
                    "bad-schedule", "'\(body.id.prefix(80))' cannot name a schedule.",
                    hint:
                        "use 1 to 100 letters, digits and -_.,(), but no dot or hyphen at the start, for example 'monthly-ee'"
                )
            }
            guard
                state.scheduler.schedule(body.id) != nil || state.scheduler.allSchedules.count < Scheduler.maxSchedules
            else {
                throw Refusal("busy", "There are \(Scheduler.maxSchedules) schedules already.")
            }
            let submission = try Self.submission(Array(body.submission), of: body.id)
            let schedule = Schedule(
                id: body.id, rule: rule, label: String(body.label.prefix(200)), retry: try RetryPolicy(body.retry),
                wall: environment.wall)
            check(schedule, as: submission, payload: Array(body.submission), replyAddress)
        } catch {
            state.reply(WireConversions.problem(error), to: replyAddress)
        }
    }

    /// Plans the job of a schedule as its files are now; the schedule is stored when the catalog would take it.
    ///
    /// - Parameter payload: What is stored.
    /// - Parameter changed: The schedule that this one changes; `nil` for one that is added.
    func check(
        _ schedule: Schedule, as submission: PBSubmit, payload: [UInt8], changing changed: Schedule? = nil,
        _ replyAddress: ReplyAddress
    ) {
        let wall = environment.wall
        let planner = SubmitPlanner(bboxTileLimit: environment.options.bboxTileLimit)
        let (options, catalogs, executor) = (environment.options, environment.catalogs, environment.executor)
        guard submission.hasFollows else {
            return executor.plan {
                .schedulePlanned(
                    replyAddress, schedule, changing: changed, payload: payload,
                    planner.checkedPlan(submission, wall: wall, against: catalogs))
            }
        }
        executor.run(on: .checks) {
            do throws(SubmitProblem) {
                let body = try await LookupSlots.shared.run { await options.currentResult(submission) }.get()
                executor.plan {
                    .schedulePlanned(
                        replyAddress, schedule, changing: changed, payload: payload,
                        planner.checkedPlan(body, wall: wall, against: catalogs))
                }
                return nil
            } catch {
                return .schedulePlanned(replyAddress, schedule, changing: changed, payload: payload, .failure(error))
            }
        }
    }

    /// Stores a schedule that was checked.
    func put(
        _ schedule: Schedule, changing changed: Schedule?, payload: [UInt8],
        result: Result<SubmitPlanner.Plan, SubmitProblem>,
        replyAddress: ReplyAddress
    ) {
        switch result {
        case .failure(let problem):
            state.reply(WireConversions.problem(problem.code, problem.text, hint: problem.hint), to: replyAddress)
        case .success(let plan):
            let present = state.scheduler.schedule(schedule.id)
            if let changed, present?.revision != changed.revision {
                return state.reply(WireConversions.problem(Self.changed(schedule.id)), to: replyAddress)
            }
            let isNew = present == nil
            lookups.end(schedule.id)
            state.handle(.putSchedule(schedule, payload: payload))
            let text =
                "schedule \(schedule.id) \(isNew ? "added" : "replaced"): \(schedule.rule), \(Units.count(plan.tiles, of: "tile")),"
                + " \(isNew ? "first" : "next") at \(Self.text(state.scheduler.schedule(schedule.id)?.next ?? schedule.next))"
            ordered(changed: 1, text, warnings: plan.warnings, replyAddress)
        }
    }

    /// Carries out an order for a schedule, or returns the refusal.
    func order(_ body: PBScheduleOrder, _ replyAddress: ReplyAddress) {
        let id = body.id
        if let refusal = refusal(ofSchedule: id.isEmpty ? "?" : id) {
            return state.reply(WireConversions.problem(refusal), to: replyAddress)
        }
        let wasPaused = state.scheduler.schedule(id)?.isPaused == true
        switch body.order {
        case "drop":
            lookups.end(id)
            state.handle(.dropSchedule(id))
            ordered(changed: 1, "schedule \(id) removed; its jobs stay", replyAddress)
        case "pause":
            state.handle(.pauseSchedule(id, true, wall: environment.wall))
            let text = wasPaused ? "schedule \(id) was paused already" : "schedule \(id) is paused"
            ordered(changed: wasPaused ? 0 : 1, text, replyAddress)
        case "resume":
            state.handle(.pauseSchedule(id, false, wall: environment.wall))
            let next = state.scheduler.schedule(id).map { ", next at \(Self.text($0.next))" } ?? ""
            let text = wasPaused ? "schedule \(id) is resumed\(next)" : "schedule \(id) was not paused\(next)"
            ordered(changed: wasPaused ? 1 : 0, text, replyAddress)
        case "edit":
            query(replyAddress, about: "The schedule") { store in
                .scheduleToEdit(replyAddress, body, try await store.payload(ofSchedule: id) ?? [])
            }
        default:
            let text = "'\(body.order.prefix(40))' is not an order. Use drop, pause, resume or edit."
            state.reply(WireConversions.problem("bad-request", text), to: replyAddress)
        }
    }

    func schedules() -> Message {
        .schedules(.make { $0.schedules = state.scheduler.allSchedules.map(status) })
    }

    func status(_ schedule: Schedule) -> PBSchedule {
        .make {
            $0.id = schedule.id
            $0.every = schedule.rule.description
            $0.label = schedule.label
            $0.nextMs = UInt64(clamping: schedule.next - environment.wall)
            $0.lastJob = schedule.lastJob.rawValue
            $0.fired = schedule.fired
            $0.skipped = schedule.skipped
            $0.unchanged = schedule.unchanged
            $0.unchangedMs = schedule.unchangedAt
            $0.paused = schedule.isPaused
            $0.cause = schedule.trouble?.cause ?? ""
            $0.detail = schedule.trouble?.detail ?? ""
            $0.sourceBuild = state.jobs.spec(of: schedule.lastJob)?.tileset.build?.name ?? ""
            $0.retry = schedule.retry.description
            $0.failures = UInt32(clamping: schedule.attempts.failures)
            $0.retryMs = UInt64(clamping: schedule.attempts.retryAt - environment.wall)
            $0.revision = schedule.revision
        }
    }

    private static func text(_ wall: Int64) -> String {
        Date(timeIntervalSince1970: Double(wall) / 1_000).formatted(.iso8601)
    }

    static func submission(_ payload: [UInt8], of id: String) throws(Refusal) -> PBSubmit {
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
    func fire(_ id: String, due: Int64) {
        let firing = Firing(schedule: id, due: due, wall: environment.wall)
        guard environment.executor.plansWaiting < environment.options.maxPlans,
            state.scheduler.livingCount < environment.options.maxOpenJobs
        else {
            return fireFailed(firing, Trouble(cause: "throttled", detail: "too many jobs are open"), retriable: true)
        }
        if let trouble = lookups.trouble(of: id, now: environment.now) {
            // It is repeated later; nothing is logged meanwhile.
            return state.handle(
                .fireFailed(schedule: id, wall: environment.wall, trouble, retriable: true))
        }
        let last = lastBuild(of: id)
        environment.executor.run(on: .queries) {
            [
                store = environment.store, executor = environment.executor, options = environment.options,
                catalogs = environment.catalogs
            ] in
            do {
                guard let payload = try await store.payload(ofSchedule: id) else {
                    let trouble = Trouble(cause: "internal", detail: "its submission is gone")
                    return .fireFailed(firing, trouble, retriable: false)
                }
                if let body = NewestBuildLookup.body(payload) {
                    executor.run(on: .checks) {
                        await LookupSlots.shared.run {
                            await NewestBuildLookup(last: last, options: options).report(
                                of: body, firing, executor, against: catalogs)
                        }
                    }
                    return nil
                }
                executor.plan { .firePlanned(firing, Self.plan(payload, firing, due: due, catalogs: catalogs)) }
                return nil
            } catch {
                return .fireFailed(firing, Trouble(cause: "internal", detail: "\(error)"), retriable: true)
            }
        }
    }

    /// - Parameter bboxTileLimit: For a submission whose files were read now, which is checked; `nil` for one that was checked when the
    ///   schedule was added.
    static func plan(
        _ payload: [UInt8], _ firing: Firing, due: Int64, catalogs: CatalogTable, bboxTileLimit: UInt64? = nil
    ) -> Result<SubmitPlanner.Plan, SubmitProblem> {
        Result { () throws(SubmitProblem) in
            var body: PBSubmit
            do throws(Refusal) { body = try submission(payload, of: firing.schedule) } catch {
                throw SubmitProblem(error.code, error.text, hint: error.hint)
            }
            body.requestID = Firing.requestID(of: firing.schedule, due: due)
            let planner = SubmitPlanner(bboxTileLimit: bboxTileLimit ?? .max)
            let plan = try planner.plan(body, wall: firing.wall, due: firing.due)
            return bboxTileLimit == nil ? try plan.ofSchedule(in: catalogs) : try plan.checked(against: catalogs)
        }
    }

    /// Makes the job of a schedule that is due.
    func fired(_ firing: Firing, _ result: Result<SubmitPlanner.Plan, SubmitProblem>) {
        switch result {
        case .failure(let problem):
            fireFailed(firing, Trouble(cause: "bad-request", detail: problem.withHint), retriable: false)
        case .success(let plan):
            lookups.end(firing.schedule)
            // The plan may be of a submission that was replaced meanwhile.
            guard state.scheduler.isFiring(firing.schedule), let (job, _) = makeJob(of: plan) else { return }
            environment.logger.notice(
                "Schedule fired", metadata: [LogKey.schedule: "\(firing.schedule)", LogKey.job: "\(job)"])
        }
    }

    func fireFailed(_ firing: Firing, _ trouble: Trouble, retriable: Bool) {
        environment.logger.warning(
            "Schedule not fired",
            metadata: [
                LogKey.schedule: "\(firing.schedule)", LogKey.errorCode: "\(trouble.cause)",
                LogKey.errorMessage: "\(trouble.detail)",
            ])
        state.handle(.fireFailed(schedule: firing.schedule, wall: environment.wall, trouble, retriable: retriable))
    }

    /// Submits the job of a schedule by hand.
    ///
    /// Its calendar does not change.
    func runSchedule(_ body: PBSubmit, _ replyAddress: ReplyAddress) {
        if let refusal = refusal(ofSchedule: body.schedule) {
            return state.reply(WireConversions.problem(refusal), to: replyAddress)
        }
        if let last = state.scheduler.schedule(body.schedule)?.lastJob, state.scheduler.isLiving(last) {
            return state.reply(submitted(last, existing: true), to: replyAddress)
        }
        query(replyAddress, about: "The schedule") { store in
            .scheduleRead(replyAddress, body, try await store.payload(ofSchedule: body.schedule) ?? [])
        }
    }

    /// Submits the job of a schedule whose stored submission was read.
    func runSchedule(_ body: PBSubmit, payload: [UInt8], _ replyAddress: ReplyAddress) {
        do throws(Refusal) {
            if let refusal = refusal(ofSchedule: body.schedule) { throw refusal }
            var submission = try Self.submission(payload, of: body.schedule)
            submission.requestID = body.requestID
            guard submission.latest.isEmpty, !submission.hasFollows else {
                return environment.executor.run(on: .checks) { [submission, options = environment.options] in
                    let filled = await LookupSlots.shared.run {
                        await NewestBuildLookup(last: nil, options: options).filled(submission)
                    }
                    return .newestFound(replyAddress, schedule: submission.schedule, filled)
                }
            }
            submit(submission, replyAddress)
        } catch {
            state.reply(WireConversions.problem(error), to: replyAddress)
        }
    }
}
