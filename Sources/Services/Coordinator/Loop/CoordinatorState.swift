import Logging
import Scheduling
import Telemetry
import Wire

/// The scheduler with what depends on each of its decisions, and the tick that collects their effects.
///
/// The parts of the loop change the state only through this type. It belongs to the loop, and is used by one task.
final class CoordinatorState {
    let environment: LoopEnvironment
    var scheduler: Scheduler
    var jobs = JobRegistry()
    var workers: WorkerGateway
    var releases = BlobReleases()
    var counters = LoopCounters()
    var steps = JobSteps()
    var tick = LoopTick()

    init(_ environment: LoopEnvironment) {
        self.environment = environment
        workers = WorkerGateway(environment)
        scheduler = Scheduler(
            policy: environment.options.policy, epoch: environment.store.epoch, now: Tick(milliseconds: 0))
    }

    /// Lets the scheduler handle an event and divide the budgets of origins.
    func handle(_ event: Event) { collect(scheduler.handle(event, now: environment.now)) }

    /// Lets the scheduler make the job of a submission, or find the existing one.
    ///
    /// - Parameter spec: Kept as the description of a new job.
    func submit(_ submission: JobSubmission, _ spec: JobSpec) -> (job: JobID, existing: Bool)? {
        let effects = scheduler.handle(.submit(submission), now: environment.now)
        var made: (job: JobID, existing: Bool)?
        for case .submitted(let job, let existing) in effects { made = (job, existing) }
        // The same effects may already offer batches of the job, which needs its description.
        if case (let job, false)? = made { describe(job, spec) }
        collect(effects)
        return made
    }

    /// Keeps the description of a job.
    func describe(_ job: JobID, _ spec: JobSpec) {
        jobs.setSpec(spec, of: job)
        environment.places.note(job, spec)
    }

    /// Lets the scheduler handle an event of a worker.
    ///
    /// Budgets are divided once, at the end of the tick.
    ///
    /// - Parameter request: The frame that the messages to its session answer.
    func apply(_ event: Event, answering request: WorkerRequest) {
        collect(scheduler.apply(event, now: environment.now), answering: request)
    }

    /// Adds the scheduler's effects to the tick.
    func collect(_ effects: [Effect], answering request: WorkerRequest? = nil) {
        var cuts: [CutRequest] = []
        for effect in effects {
            switch effect {
            case .store(let write):
                tick.writes.append(write)
                counters.record(write)
                jobs.record(write, wall: environment.wall)
                steps.record(write) { [jobs] in jobs.steps(of: $0) }
                if case .forget(let job) = write { environment.places.forget(job) }
                environment.logger.logChange(write)
            case .holders(let holders): tick.holders = holders
            case .send(let session, let message):
                let frame = workers.frame(message, to: session, answering: request, scheduler: scheduler, jobs: jobs)
                if let frame { tick.frames.append(frame) }
            case .submitted: break
            case .writeManifest(let job, let package): tick.tasks.append(.writeManifest(job, package: package))
            case .publish(let job, let package, let merged):
                tick.tasks.append(.publish(job, package: package, merged))
            case .publishTogether(let job): tick.tasks.append(.publishTogether(job))
            case .release(let job):
                releases.add(job)
                tick.tasks.append(.releaseBlobs)
            case .trim(let job): tick.tasks.append(.trimBlobs(job))
            case .split(let cut): cuts.append(cut)
            case .fire(let schedule, let due): tick.tasks.append(.fireSchedule(schedule, due: due))
            }
        }
        // Runs last, so that its writes follow the writes of the events that caused it.
        for cut in cuts { divide(cut, answering: request) }
    }

    /// Divides a failing batch along the job's mask.
    private func divide(_ cut: CutRequest, answering request: WorkerRequest?) {
        guard let spec = jobs.spec(of: cut.job) else { return }
        let parts = BatchPlanner.parts(of: cut.cell, zooms: cut.zooms, mask: spec.mask)
        environment.logger.info(
            "Batch split",
            metadata: [LogKey.job: "\(cut.job)", LogKey.batch: "\(cut.batch)", LogKey.parts: "\(parts.count)"])
        let event = Event.splitPlanned(cut.job, batch: cut.batch, parts)
        collect(scheduler.handle(event, now: environment.now), answering: request)
    }

    /// Adds an answer to the tick.
    ///
    /// It is sent when all earlier writes are durable.
    func reply(_ message: Message, to replyAddress: ReplyAddress) {
        let tooLarge = WireConversions.problem(
            "too-large", "The answer does not fit a message.", hint: "request fewer entries at once")
        var frame =
            environment.frame(message, to: replyAddress.peer, session: replyAddress.session, re: replyAddress.seq)
            ?? environment.frame(tooLarge, to: replyAddress.peer, session: replyAddress.session, re: replyAddress.seq)
        frame?.request = replyAddress
        if let frame { tick.frames.append(frame) }
    }
}

extension Logger {
    /// Logs a change of a job or a batch.
    fileprivate func logChange(_ write: StoreWrite) {
        switch write {
        case .job(let summary):
            debug(
                "Job state changed",
                metadata: [
                    LogKey.job: "\(summary.id)", LogKey.jobState: "\(summary.state.rawValue)",
                    LogKey.jobReason: "\(summary.reason)",
                ])
        case .batch(let job, let index, let batch):
            trace(
                "Batch state changed",
                metadata: [
                    LogKey.job: "\(job)", LogKey.batch: "\(index)", LogKey.batchState: "\(batch.state)",
                    LogKey.token: "\(batch.token?.rawValue ?? 0)",
                ])
        case .insertJob, .forget, .reopen, .resetBatches, .package, .failures, .orphan, .addBatches, .dropped,
            .schedule, .firing,
            .dropSchedule, .step, .originLimit, .originBlocked:
            break
        }
    }
}
