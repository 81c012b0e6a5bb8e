import Foundation
import Logging
import Packages
import Scheduling
import Shards
import Telemetry
import Wire

extension CoordinatorEngine {
    /// Answers a frame of the control endpoint.
    func answer(_ frame: Frame, _ asker: Asker) async {
        switch frame.message {
        case .ping:
            if let bytes = encode(health(), session: asker.session, seq: 1, re: asker.seq) {
                turn.urgent.append(Turn.Letter(peer: asker.peer, bytes: bytes))
            }
        case .submit(let body): submit(body, asker)
        case .listJobs(let body): await listJobs(body, asker)
        case .getJob(let body): reply(await job(body.job, failures: Int(min(body.failures, 10_000))), to: asker)
        case .cancelJob(let body):
            guard scheduler.summary(of: body.job) != nil else {
                reply(unknown(body.job), to: asker)
                return
            }
            take(scheduler.handle(.cancel(body.job), now: now))
            reply(.done(PBDone()), to: asker)
        case .drainWorker(let body): drain(body, asker)
        case .listOrigins: reply(origins(), to: asker)
        case .originOrder(let body): order(body, asker)
        case .listWorkers:
            reply(.workers(.make { $0.workers = scheduler.workers(now: now).map(WireConversions.status) }), to: asker)
        case .jobOrder(let body): order(body, asker)
        case .listDead(let body): turn.chores.append(.letters(asker, body))
        case .deadOrder(let body): turn.chores.append(.deadOrder(asker, body))
        case .putSchedule(let body): put(body.schedule, asker)
        case .dropSchedule(let body): dropSchedule(body.id, asker)
        case .listSchedules: reply(schedules(), to: asker)
        case .getEvents(let body): await events(body, asker)
        case .backup(let body): turn.chores.append(.backup(asker, name: body.name))
        default:
            reply(
                WireConversions.problem(
                    "bad-request", "A \(frame.message.type) message does not belong on the control endpoint."),
                to: asker)
        }
    }

    /// Adds an answer to the tick.
    ///
    /// It is sent when all earlier writes are durable.
    func reply(_ message: Message, to asker: Asker) {
        var bytes = encode(message, session: asker.session, seq: 1, re: asker.seq)
        if bytes == nil {
            let text = WireConversions.problem(
                "too-large", "The answer does not fit a message.", hint: "request fewer entries at once")
            bytes = encode(text, session: asker.session, seq: 1, re: asker.seq)
        }
        if let bytes { turn.letters.append(Turn.Letter(peer: asker.peer, bytes: bytes)) }
    }

    private func unknown(_ job: JobID) -> Message { WireConversions.problem(.unknown(job)) }

    // MARK: - Submissions

    /// A request id names one submission.
    ///
    /// Returns a refusal if a different submission uses the same id.
    private func stranger(to job: JobID, _ body: PBSubmit) -> Refusal? {
        // A submission of a schedule's run names no packages; jobs of earlier builds have no identity.
        guard !body.packages.isEmpty, let spec = specs[job], let known = scheduler.summary(of: job)?.identity,
            let asked = try? SubmitPlanner.identity(body), asked != known
        else { return nil }
        return Refusal(
            "bad-request",
            "request id '\(body.requestID)' belongs to job \(job), \(spec.label) of \(spec.tilesetID) at zoom \(spec.zooms), and this submission is different.",
            hint: "use another --request-id for another job")
    }

    /// Plans a submission outside the loop.
    ///
    /// Its job is made when the plan arrives.
    func submit(_ body: PBSubmit, _ asker: Asker) {
        if !body.dryRun, let job = scheduler.job(requestID: body.requestID) {
            let refusal = stranger(to: job, body)
            reply(refusal.map { WireConversions.problem($0) } ?? submitted(job, existing: true), to: asker)
            return
        }
        if !body.schedule.isEmpty, body.packages.isEmpty {
            turn.chores.append(.runSchedule(asker, body))
            return
        }
        if let refusal = scheduler.refusal(after: body.after) ?? refusal(ofSchedule: body.schedule) {
            reply(WireConversions.problem(refusal), to: asker)
            return
        }
        // Each waiting plan holds its submission, up to 4 MiB.
        guard workshop.plansWaiting < options.mostPlans, scheduler.livingCount < options.mostOpenJobs else {
            reply(
                WireConversions.problem(
                    "busy",
                    "\(scheduler.livingCount) jobs are open and \(workshop.plansWaiting) submissions are being planned.",
                    hint: "submit it again when some jobs have ended", retriable: true), to: asker)
            return
        }
        let planner = SubmitPlanner(bboxTileLimit: options.bboxTileLimit)
        let wall = wall
        workshop.plan { [publisher] in
            let result = Result { () throws(SubmitProblem) in
                let plan = try planner.plan(body, wall: wall)
                // A schedule was checked against the catalog when it was added.
                return body.schedule.isEmpty ? try plan.weighed(publisher) : plan
            }
            return .planned(asker, result, isDry: body.dryRun)
        }
    }

    func submitted(_ job: JobID, existing: Bool, warnings: [String] = []) -> Message {
        let counts = scheduler.summary(of: job)?.counts ?? JobCounts()
        return .submitted(
            .make {
                $0.job = job
                $0.tiles = counts.tiles
                $0.batches = counts.wholeBatches
                $0.existing = existing
                $0.warnings = warnings
            })
    }

    /// Handles the result of work that was done outside the loop.
    func take(_ report: Report) async {
        switch report {
        case .event(let event): take(scheduler.handle(event, now: now))
        case .events(let events): for event in events { take(scheduler.handle(event, now: now)) }
        case .answer(let asker, let message): reply(message, to: asker)
        case .written(let job, let package, let digest, let decides):
            take(scheduler.handle(.manifestWritten(job, package: package, digest, decides: decides), now: now))
            removals.settle(digest, mayBeNamed: true)
            releasePostponed()
        case .checked(let check, let seq, let result, let trouble): checked(check, seq: seq, result, trouble)
        case .unchecked(let check, let why): unchecked(check, why)
        case .released(let job): await forgetBlobs(of: job)
        case .postponed(let job, let left):
            releasing.remove(job)
            unreleased.append(job)
            postponed[job] = left
            releasePostponed()
        case .trimPostponed(let job, let left):
            postponedTrims[job] = left
            releasePostponed()
        case .keptBlobs(let job): releasing.remove(job)
        case .catalogRoom(let room):
            catalogRoom = room
            isLookingAtCatalog = false
        case .planned(let asker, .failure(let problem), _):
            reply(WireConversions.problem(problem.code, problem.text, hint: problem.hint), to: asker)
        case .planned(let asker, .success(let plan), isDry: true):
            reply(
                .submitted(
                    .make {
                        $0.tiles = plan.tiles
                        $0.batches = UInt64(plan.submission.batches.count)
                        $0.warnings = plan.warnings + rivalry(of: plan)
                    }), to: asker)
        case .planned(let asker, .success(var plan), isDry: false):
            plan.warnings += rivalry(of: plan)
            guard let (job, existing) = enter(plan) else { return }
            reply(submitted(job, existing: existing, warnings: plan.warnings), to: asker)
        case .firePlanned(let firing, let result): fired(firing, result)
        case .schedulePlanned(let asker, let schedule, let payload, let result):
            put(schedule, payload: payload, result, asker)
        case .reopenPlanned(let asker, let job, let only, let result): reopened(job, only: only, result, asker)
        }
    }

    private func rivalry(of plan: SubmitPlanner.Plan) -> [String] {
        plan.rivalry(
            with: specs.filter { scheduler.isLiving($0.key) }.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 })
    }

    /// Creates the job of a plan, or finds the existing job of the same submission.
    func enter(_ plan: SubmitPlanner.Plan) -> (job: JobID, existing: Bool)? {
        // The spec is stored first: the same tick may already offer the job's batches.
        let next = scheduler.nextJob
        specs[next] = plan.spec
        guard let (job, existing) = take(scheduler.handle(.submit(plan.submission), now: now)) else { return nil }
        if job != next { specs[next] = nil }
        logger.info(
            "Job submitted",
            metadata: [
                LogKey.job: "\(job)", "packhorse.job.tiles": "\(plan.tiles)",
                "packhorse.job.existing": "\(existing)",
            ])
        for warning in plan.warnings { logger.warning("\(warning)", metadata: [LogKey.job: "\(job)"]) }
        return (job, existing)
    }

    // MARK: - Jobs

    /// How a job in memory stands, or `nil`.
    ///
    /// - Parameter absence: What `scheduler.absence` says, where that is known.
    func status(_ id: JobID, mostPackages: Int, absence: String? = nil) -> PBJobStatus? {
        guard let summary = scheduler.summary(of: id), let spec = specs[id], let times = times[id] else { return nil }
        let packages = scheduler.packages(of: id)
        var status = WireConversions.status(
            summary, spec: spec, times: times, packages: Array(packages.prefix(mostPackages)), wall: wall)
        status.packagesTotal = UInt32(clamping: packages.count)
        status.waiting = scheduler.waiting(of: id)
        if status.waiting.isEmpty { status.waiting = scheduler.hindrance(of: id, now: now) }
        if status.waiting.isEmpty {
            let missing = scheduler.missingFormats(of: id)
            if !missing.isEmpty { status.waiting = "no connected worker writes \(missing.joined(separator: ", "))" }
        }
        if status.waiting.isEmpty, scheduler.isLiving(id) { status.waiting = absence ?? scheduler.absence(now: now) }
        if status.waiting.isEmpty { status.waiting = scheduler.stillness(of: id, now: now) }
        // Stored as a relative path, so that a catalog can be moved; reported as an absolute path.
        for index in status.packages.indices where !status.packages[index].path.isEmpty {
            let path = options.catalog.appending(path: status.packages[index].path).standardizedFileURL.path
            status.packages[index].path = path
            for file in status.packages[index].files.indices {
                let format = PackageFormat(rawValue: status.packages[index].files[file].format)
                guard let format, path.hasSuffix(PackageFormat.mbtiles.fileExtension) else { continue }
                status.packages[index].files[file].path =
                    path.dropLast(PackageFormat.mbtiles.fileExtension.count) + format.fileExtension
            }
        }
        return status
    }

    private func job(_ id: JobID, failures: Int) async -> Message {
        guard var status = status(id, mostPackages: 4_096) else {
            do {
                return try await store.history(of: id).map { .jobStatus($0) } ?? unknown(id)
            } catch {
                return WireConversions.problem(
                    "degraded", "The history of jobs cannot be read: \(error)", retriable: true)
            }
        }
        if failures > 0 {
            do {
                status.failures = try await store.failures(of: id, limit: failures).map(WireConversions.failure)
            } catch {
                return WireConversions.problem(
                    "degraded", "The job's failures cannot be read: \(error)", retriable: true)
            }
        }
        return .jobStatus(status)
    }
}
