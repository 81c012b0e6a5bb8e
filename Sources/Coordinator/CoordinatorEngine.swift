import Catalog
import Errors
import Foundation
import Logging
import Scheduling
import Shards
import Telemetry
import Wire
import ZeroMQ

/// The event loop around the scheduler: it reads frames, commits one transaction, then sends frames.
///
/// Rule: no message is sent before the state that it reports is durable. In practice: a tick collects writes and
/// outbound frames. ``settle()`` commits the writes and only then sends the frames. Otherwise, after a crash between
/// the two, a worker would forget a shard that the coordinator does not know.
actor CoordinatorEngine {
    static let control = 0
    static let work = 1

    let options: CoordinatorOptions
    let logger: Logger
    let store: StateStore
    let blobs: any ManagedBlobStore
    let publisher: any Publishing
    let router: RouterLink
    /// The port where this host streams blobs, 0 = none.
    let blobPort: UInt32
    let workshop = Workshop()
    let publications = Publications()
    let clock = ContinuousClock()
    let origin: ContinuousClock.Instant

    var scheduler: Scheduler
    var specs: [JobID: JobSpec] = [:]
    /// When the free space of the blobs' disk is checked next.
    var nextRoomLook = Tick(milliseconds: 0)
    /// When the free space of the catalog's disk is checked next, and the last result.
    var nextCatalogLook = Tick(milliseconds: 0)
    var isLookingAtCatalog = false
    var catalogRoom: DiskRoom?
    /// When the schedules were last checked.
    var lastWall = Tick(milliseconds: -1_000)
    var times: [JobID: JobTimes] = [:]
    /// Ended jobs whose blobs still exist.
    var unreleased: [JobID] = []
    /// Ended jobs whose blobs are being removed.
    var releasing: Set<JobID> = []
    let removals = Removals()
    /// Ended jobs whose removal is retried when none of these blobs is claimed any more.
    var postponed: [JobID: Set<ContentDigest>] = [:]
    /// The same for jobs that keep their shards.
    var postponedTrims: [JobID: Set<ContentDigest>] = [:]
    /// Commits whose blobs are being looked up.
    var checking: Set<CommitCheck> = []
    var peers = Peers()
    var turn = Turn()
    var isDegraded = false
    /// The last frame received from each session: credit grants count from there.
    var heard: [SessionID: UInt64] = [:]
    /// Requests for events that wait for the next event.
    var eventWaits: [EventWait] = []
    /// The session and the number of the frame that is being answered.
    var answering: (session: SessionID, seq: UInt64)?

    init(
        options: CoordinatorOptions, logger: Logger, store: StateStore, blobs: any ManagedBlobStore,
        publisher: any Publishing,
        router: RouterLink, blobPort: UInt32
    ) {
        self.blobPort = blobPort
        self.options = options
        self.logger = logger
        self.store = store
        self.blobs = blobs
        self.publisher = publisher
        self.router = router
        origin = clock.now
        scheduler = Scheduler(policy: options.policy, epoch: store.epoch, now: Tick(milliseconds: 0))
    }

    /// Monotonic milliseconds since the start.
    var now: Tick {
        let (seconds, attoseconds) = (clock.now - origin).components
        return Tick(milliseconds: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }

    /// Wall time for display.
    ///
    /// Milliseconds since 1970.
    var wall: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    /// Serves until cancelled, then closes everything.
    func run() async throws {
        workshop.onReport { [router] in router.wake() }
        do {
            try await inherit()
            var quietSince = now
            while true {
                let limit = patience()
                let frames = try await router.receive(upTo: .milliseconds(limit))
                // The process was suspended or got no CPU time. Messages from workers are still in the sockets and must
                // be read first.
                if now - quietSince > limit + 5_000 { take(scheduler.handle(.wasDeaf, now: now)) }
                var rest = frames[...]
                repeat {
                    for frame in rest.prefix(Self.turnSize) { await accept(frame) }
                    rest = rest.dropFirst(Self.turnSize)
                    try await finishTurn()
                } while !rest.isEmpty
                if scheduler.hasSpentTokens { throw CoordinatorError.spentTokens }
                quietSince = now
            }
        } catch is CancellationError {
            await close()
        } catch {
            await close()
            throw error
        }
    }

    /// The number of frames that one transaction takes; the same limit holds for reports of background work.
    ///
    /// Large enough to share one flush: from 16 frames on the flush no longer dominates. Small enough that a thousand
    /// workers that send at once are answered in turn, instead of all waiting for the last.
    private static let turnSize = 64

    /// Finishes a tick after its frames: reports, timers, one transaction, outbound frames.
    private func finishTurn() async throws {
        for report in workshop.collect(Self.turnSize) { await take(report) }
        if let alarm = scheduler.nextAlarm, alarm <= now { take(scheduler.handle(.timer, now: now)) }
        fireSchedules()
        forgetOldJobs()
        makeRoom()
        lookAtCatalog()
        take(scheduler.settle(now: now))
        let hasNews = !turn.writes.isEmpty
        try await settle()
        await tellWaiting(hasNews: hasNews)
        try await settle()
    }

    /// How long the loop may sleep.
    ///
    /// Milliseconds.
    private func patience() -> Int64 {
        if workshop.hasReports { return 0 }
        if workshop.isBusy { return 10 }
        let next = (eventWaits.map(\.until) + [scheduler.nextAlarm].compactMap { $0 }).min()
        return next.map { min(max($0 - now, 1), 1_000) } ?? 1_000
    }

    private func close() async {
        publications.close()
        store.stopBackups()
        await workshop.drain()
        await router.close()
        await store.close()
        logger.notice("Coordinator stopped", metadata: [LogKey.epoch: "\(store.epoch)"])
    }

    /// Restores the state from the state file.
    private func inherit() async throws {
        var all = try await store.load()
        times = all.times
        for (index, job) in all.jobs.enumerated() {
            let spec: JobSpec
            do {
                spec = try JobSpec(payload: job.payload, withMasks: !job.summary.state.isFinal)
            } catch {
                throw CoordinatorError(
                    .damagedState,
                    "The state file is damaged: the description of job \(job.summary.id) cannot be read (\(error)). Restore it from a backup.",
                    cause: error)
            }
            specs[job.summary.id] = spec
            all.jobs[index].origin = spec.origin
            all.jobs[index].tileset = spec.tilesetDigest
            all.jobs[index].formats = spec.formats
            if !job.summary.state.isFinal { all.jobs[index].needs = spec.needs(of: job.batches) }
        }
        unreleased = try await store.unreleased()
        try await holdShards(&all)
        scheduler = Scheduler(
            policy: options.policy, epoch: store.epoch, jobs: all.jobs, lastJob: all.lastJob, schedules: all.schedules,
            operatorLimits: all.operatorLimits,
            holders: all.holders, now: now)
        take(scheduler.start(now: now))
        turn.chores.append(.release)
        let open = all.jobs.filter { !$0.summary.state.isFinal }.count
        // Runs after the release of blobs of ended jobs, which this tick starts first.
        try await settle()
        try await sweep(isIdle: open == 0)
        logger.notice(
            "Coordinator started",
            metadata: [
                LogKey.epoch: "\(store.epoch)", LogKey.endpoint: "\(router.boundEndpoints.joined(separator: " "))",
                "packhorse.jobs.open": "\(open)",
            ])
    }

    /// Finds the ended jobs whose shards unfinished jobs may use: those of the same tileset that were submitted before
    /// they ended.
    ///
    /// Also finds the shards of kept previous builds.
    private func holdShards(_ all: inout Inheritance) async throws {
        let living = all.jobs.filter { !$0.summary.state.isFinal }
        var waiting = Set(unreleased)
        for (index, job) in all.jobs.enumerated() where waiting.contains(job.summary.id) && !job.summary.hasRested {
            guard let ended = times[job.summary.id]?.ended else { continue }
            let heldFor = living.filter { other in
                other.tileset == job.tileset && times[other.summary.id].map { $0.created <= ended } == true
            }.map(\.summary.id)
            guard !heldFor.isEmpty else { continue }
            all.jobs[index].batches = try await store.shards(of: job.summary.id)
            all.jobs[index].heldFor = heldFor
            waiting.remove(job.summary.id)
        }
        for (index, job) in all.jobs.enumerated() where job.summary.state == .done && job.summary.keepsBlobs {
            all.jobs[index].batches = try await store.shards(of: job.summary.id)
        }
        unreleased = unreleased.filter(waiting.contains)
    }

    // MARK: - Effects

    /// Adds the scheduler's effects to the tick.
    ///
    /// Returns the job of a submission.
    @discardableResult
    func take(_ effects: [Effect]) -> (job: JobID, existing: Bool)? {
        var submitted: (JobID, Bool)?
        var cuts: [CutRequest] = []
        for effect in effects {
            switch effect {
            case .store(let write):
                turn.writes.append(write)
                note(write)
            case .holders(let holders): turn.holders = holders
            case .send(let session, let message): post(message, to: session)
            case .submitted(let job, let existing): submitted = (job, existing)
            case .writeManifest(let job, let package): turn.chores.append(.manifest(job, package: package))
            case .publish(let job, let package, let merged): turn.chores.append(.publish(job, package: package, merged))
            case .release(let job):
                unreleased.append(job)
                turn.chores.append(.release)
            case .trim(let job): turn.chores.append(.trim(job))
            case .split(let cut): cuts.append(cut)
            case .fire(let schedule, let due): turn.chores.append(.fire(schedule: schedule, due: due))
            }
        }
        // Runs last, so that its writes follow the writes of the events that caused it.
        for cut in cuts { self.cut(cut) }
        return submitted
    }

    /// Updates the job times that are shown, and logs transitions.
    private func note(_ write: StoreWrite) {
        if let job = write.leasedJob, times[job]?.started == nil { times[job]?.started = wall }
        switch write {
        case .insertJob(let job): times[job.summary.id] = JobTimes(created: wall)
        case .forget(let job):
            specs[job] = nil
            times[job] = nil
        case .job(let summary):
            if summary.state.isFinal {
                if times[summary.id]?.ended == nil { times[summary.id]?.ended = wall }
                specs[summary.id] = specs[summary.id]?.withoutMasks
            }
            logger.debug(
                "Job state changed",
                metadata: [
                    LogKey.job: "\(summary.id)", "packhorse.job.state": "\(summary.state.rawValue)",
                    "packhorse.job.reason": "\(summary.reason)",
                ])
        case .batch(let job, let index, let batch):
            logger.trace(
                "Batch state changed",
                metadata: [
                    LogKey.job: "\(job)", LogKey.batch: "\(index)", "packhorse.batch.state": "\(batch.state)",
                    LogKey.token: "\(batch.token?.rawValue ?? 0)",
                ])
        case .reopen(let job): times[job.summary.id]?.ended = nil
        case .package, .failures, .orphan, .addBatches, .dropped, .schedule, .dropSchedule, .originLimit: break
        }
    }

    /// Commits the tick's writes, then sends its frames and starts its background work.
    ///
    /// Frames that cannot be delivered cause another tick.
    func settle() async throws {
        while !turn.isEmpty {
            let current = turn
            turn = Turn()
            if !current.urgent.isEmpty { _ = await router.send(current.urgent.map { ($0.peer, $0.bytes) }) }
            if !current.writes.isEmpty || current.holders != nil { try await commit(current.writes, current.holders) }
            let lost = Set(await router.send(current.letters.map { ($0.peer, $0.bytes) }))
            for chore in current.chores { try await start(chore) }
            guard !lost.isEmpty else { continue }
            var offers: [SessionID: [LeaseToken]] = [:]
            for letter in current.letters where lost.contains(letter.peer) {
                if let offer = letter.offer { offers[offer.session, default: []].append(offer.token) }
            }
            for (session, tokens) in offers.sorted(by: { $0.key < $1.key }) {
                logger.debug(
                    "Offers not delivered",
                    metadata: ["packhorse.session": "\(session)", "packhorse.offers": "\(tokens.count)"])
                take(scheduler.handle(.undelivered(session, tokens), now: now))
            }
        }
    }

    /// Makes writes durable, however long that takes.
    ///
    /// While the disk is full, results are not acknowledged and no work is handed out. Only health requests and
    /// refusals are answered. Nothing is lost: workers repeat their messages.
    private func commit(_ writes: [StoreWrite], _ holders: ShareHolders?) async throws {
        while true {
            do {
                try await store.apply(writes, holders: holders, wall: wall)
                if isDegraded {
                    isDegraded = false
                    logger.notice("State file writable again")
                    take(scheduler.handle(.wasDeaf, now: now))
                }
                return
            } catch  where StateStore.mayHeal(error) {
                if !isDegraded {
                    logger.error(
                        "State file not writable; free space on its disk",
                        metadata: [LogKey.path: "\(options.data.path)", LogKey.errorMessage: "\(error)"])
                }
                isDegraded = true
                try await serveDegraded()
            } catch {
                throw CoordinatorError(
                    .store,
                    "The state file in '\(options.data.path)' refused a change: \(error). Nothing was acknowledged.",
                    cause: error)
            }
        }
    }

    /// Serves half a second without a state file.
    private func serveDegraded() async throws {
        let end = now + 500
        while now < end {
            let frames = try await router.receive(upTo: .milliseconds(max(end - now, 1)))
            var answers: [(PeerID, [UInt8])] = []
            for inbound in frames where inbound.endpointIndex == Self.control {
                guard let frame = decode(inbound) else { continue }
                let message: Message
                if case .ping = frame.message {
                    message = health()
                } else {
                    message = WireConversions.problem(
                        "degraded", "The coordinator cannot write its state file.",
                        hint: "free space in \(options.data.path)", retriable: true)
                }
                if let bytes = encode(message, session: frame.session, seq: 1, re: frame.seq) {
                    answers.append((inbound.peer, bytes))
                }
            }
            _ = await router.send(answers)
        }
    }
}
