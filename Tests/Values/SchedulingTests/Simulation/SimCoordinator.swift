import Digests
import Scheduling

/// The coordinator process around the scheduler: collects a tick, commits it, then sends messages and starts background
/// jobs.
struct SimCoordinator {
    enum Letter {
        case work(Event, from: Int)
        case submit(client: Int)
        case order(JobID, client: Int, step: Int)
    }
    enum Reply {
        case submitted(JobID, client: Int)
        case ordered(client: Int, step: Int)
        case refused(client: Int)
    }
    enum Chore {
        case manifest(JobID, package: PackageIndex)
        case publish(JobID, package: PackageIndex, MergedPackage)
        case publishTogether(JobID)
        case release
        case trim(JobID)
    }
    enum Report {
        case manifest(JobID, package: PackageIndex, SimContent)
        case publish(JobID, package: PackageIndex, MergedPackage)
        case publishTogether(JobID, [(package: PackageIndex, merged: MergedPackage)])
        case released(JobID, [Digest])
        case trimmed([Digest])
    }
    struct Turn {
        var writes: [StoreWrite] = []
        var letters: [(session: SessionID, message: Outgoing)] = []
        var replies: [Reply] = []
        var chores: [Chore] = []
        var isEmpty: Bool { writes.isEmpty && letters.isEmpty && replies.isEmpty && chores.isEmpty }
    }

    /// The number of this process; equals the epoch but for a mutant.
    let incarnation: Int
    var scheduler: Scheduler
    var clock: SimClock
    var inbox: [Letter] = []
    var turn = Turn()
    /// A tick whose transaction waits for disk space.
    var held: Turn?
    var pausedUntil: Int64 = 0
    /// How long its own clock ran on while it was stopped.
    var slept: Int64 = 0
    var wakeAt = Int64.max
    var unreleased: [JobID] = []
    /// Ended jobs whose blobs are being removed.
    var releasing: Set<JobID> = []
    /// Blobs on their way out: a commit that names one is not answered before it is gone, or it would count a blob that goes.
    var removing: [Digest: Int] = [:]
}

extension Simulation {
    /// A process starts: the epoch first, then what the store says.
    mutating func bootCoordinator() {
        guard store.fullUntil <= now else {
            coordinatorDownUntil = store.fullUntil
            return schedule(.coordinatorWake, at: coordinatorDownUntil)
        }
        incarnation += 1
        if mutant != .tokenReuse || store.epoch == 0 { store.raiseEpoch() }
        let clock = SimClock(
            base: faultRandom.below(Int64(1_000_000)), since: now, drift: driftOfANode())
        let specs = specs
        let jobs = store.inheritance { job in job.payload.first.map { specs[Int($0)] } }
        var fresh = SimCoordinator(
            incarnation: incarnation,
            scheduler: Scheduler(
                policy: policy, epoch: store.epoch, jobs: jobs, lastJob: store.lastJob,
                now: Tick(milliseconds: clock.local(now))),
            clock: clock)
        fresh.unreleased = jobs.filter {
            $0.summary.state.isFinal && !$0.summary.keepsBlobs && $0.heldFor.isEmpty
                && !store.released.contains($0.summary.id)
        }
        .map(\.summary.id)
        coordinator = fresh
        say("coordinator \(incarnation) starts, epoch \(store.epoch)")
        let tick = tick
        if mutant != .noStart, let effects = coordinator?.scheduler.start(now: tick) { collect(effects) }
        checkRestored()
        coordinator?.turn.chores.append(.release)
        finishTick()
        if jobs.allSatisfy(\.summary.state.isFinal) { sweep() }
        wakeCoordinatorInTime()
    }

    mutating func killCoordinator() {
        guard coordinator != nil else { return }
        say("coordinator dies")
        coordinator = nil
        coordinatorTroubledAt = now
        coordinatorDownUntil = now + faultRandom.below(Int64(10_000))
        schedule(.coordinatorWake, at: coordinatorDownUntil)
        crashes += 1
    }

    /// The coordinator's own time.
    var tick: Tick { Tick(milliseconds: coordinator?.clock.local(now) ?? 0) }

    mutating func wakeCoordinator(by time: Int64) {
        guard let wake = coordinator?.wakeAt, time < wake || wake <= now else { return }
        coordinator?.wakeAt = time
        schedule(.coordinatorWake, at: time)
    }

    private mutating func wakeCoordinatorInTime() {
        guard let coordinator, mutant != .noExpiry, let alarm = coordinator.scheduler.nextAlarm else { return }
        wakeCoordinator(by: max(coordinator.clock.time(of: alarm.milliseconds), now + 1))
    }

    /// One round of the loop.
    mutating func coordinatorTurn() {
        if coordinator == nil {
            if now >= coordinatorDownUntil { bootCoordinator() }
            return
        }
        // Nothing here may hold a copy of the coordinator: the scheduler would copy itself at its next change.
        guard let wakeAt = coordinator?.wakeAt, wakeAt <= now, let pausedUntil = coordinator?.pausedUntil else {
            return
        }
        guard pausedUntil <= now else { return wakeCoordinator(by: pausedUntil) }
        if let held = coordinator?.held {
            guard store.fullUntil <= now else { return wakeCoordinator(by: now + 500) }
            coordinator?.held = nil
            carryOut(held)
            hand(.loopStalled)
        }
        if coordinator?.slept ?? 0 > 6_000 {
            marks.hit(.loopStalled)
            hand(.loopStalled)
        }
        coordinator?.slept = 0
        let letters = coordinator?.inbox ?? []
        coordinator?.inbox = []
        for letter in letters { read(letter) }
        if mutant != .noExpiry, let alarm = coordinator?.scheduler.nextAlarm, alarm <= tick { hand(.timer) }
        while let count = coordinator?.scheduler.finishedCount, count > swarm.keptJobs,
            let oldest = coordinator?.scheduler.oldestFinished, canForget(oldest)
        {
            marks.hit(.jobForgotten)
            hand(.forget(oldest))
        }
        finishTick()
        wakeCoordinatorInTime()
    }

    private mutating func read(_ letter: SimCoordinator.Letter) {
        switch letter {
        case .work(.commit(let session, let token, let result), _):
            if result.blobs.contains(where: { coordinator?.removing[$0] != nil }) {
                return marks.hit(.commitWhileRemoving)
            }
            let (owner, current) = mutant == .noFence ? unfenced(session, token) : (session, token)
            if zip(result.blobs, result.sizes).allSatisfy({ blobs[$0]?.content.size == $1 }) {
                hand(.commit(owner, current, result))
            } else {
                marks.hit(.refusedWithoutBlob)
                hand(.refusedCommit(session, token, Trouble(cause: "blob-missing", detail: "\(result.blob)")))
            }
        case .work(let event, _):
            if case .fail(_, _, _, _, let lost) = event { checker.recordReport(of: lost) }
            if case .ready(let id, _, _, let full) = event {
                if full.isEmpty { checker.limited.remove(id) } else { checker.limited.insert(id) }
            }
            if mutant == .ignoresLabels, case .hello(let id, var profile, let held) = event {
                profile.labels = [Simulation.label]
                return hand(.hello(id, profile, held: held))
            }
            hand(event)
        case .submit(let client): submit(client)
        case .order(let job, let client, let step): follow(clients[client].steps[step].order, job, client, step)
        }
    }

    /// What the mutant without a fence makes of a commit: the current lease of the same work.
    private func unfenced(_ session: SessionID, _ token: LeaseToken) -> (SessionID, LeaseToken) {
        guard let offer = checker.offers[token], case .fetch(let index, _, _, _) = offer.work,
            let batches = coordinator?.scheduler.batches(of: offer.job), batches.indices.contains(index),
            batches[index].state == .leased, let current = batches[index].token
        else { return (session, token) }
        return (batches[index].owner, current)
    }

    /// Gives the scheduler an event, checks its books and sorts its effects.
    mutating func hand(_ event: Event, client: Int? = nil) {
        let tick = tick
        guard let effects = coordinator?.scheduler.apply(event, now: tick) else { return }
        handed += 1
        if recording != nil { say("  \(event.brief)") }
        if !effects.isEmpty, handed % auditEvery == 0, let wrong = coordinator?.scheduler.audit().first {
            problem("I7: \(wrong) after \(event.brief)")
        }
        collect(effects, client: client)
    }

    mutating func collect(_ effects: [Effect], client: Int? = nil) {
        var cuts: [CutRequest] = []
        for effect in effects {
            switch effect {
            case .store(let write): coordinator?.turn.writes.append(write)
            case .send(let session, let message):
                coordinator?.turn.letters.append((session, message))
                if case .offer(let offer) = message, checker.limited.contains(session) {
                    problem("I16: \(session) is at a limit of its machine and gets \(offer.token)")
                }
                if mutant == .mergesTwice, case .offer(let offer) = message, case .merge = offer.work,
                    let other = nodes.compactMap(\.worker?.session).first(where: { $0 != session })
                {
                    coordinator?.turn.letters.append((other, message))
                }
            case .submitted(let job, let existing):
                if existing { marks.hit(.submittedAgain) }
                if let client { coordinator?.turn.replies.append(.submitted(job, client: client)) }
            case .writeManifest(let job, let package):
                coordinator?.turn.chores.append(.manifest(job, package: package))
            case .publish(let job, let package, let merged):
                if spec(of: job)?.submission.publishesTogether == true {
                    problem("package \(package) of job \(job) is published alone")
                }
                coordinator?.turn.chores.append(.publish(job, package: package, merged))
            case .publishTogether(let job):
                if spec(of: job)?.submission.publishesTogether != true {
                    problem("packages of job \(job) are published together, unasked")
                }
                coordinator?.turn.chores.append(.publishTogether(job))
            case .release(let job):
                say("release of job \(job)")
                coordinator?.unreleased.append(job)
                coordinator?.turn.chores.append(.release)
            case .trim(let job): coordinator?.turn.chores.append(.trim(job))
            case .split(let cut): cuts.append(cut)
            case .fire, .holders: break
            }
        }
        for cut in cuts {
            guard let mask = spec(of: cut.job)?.union else { continue }
            hand(
                .splitPlanned(cut.job, batch: cut.batch, BatchPlanner.parts(of: cut.cell, zooms: cut.zooms, mask: mask))
            )
        }
    }

    mutating func finishTick() {
        let tick = tick
        if let effects = coordinator?.scheduler.divideBudgets(now: tick) { collect(effects) }
        while let turn = coordinator?.turn, !turn.isEmpty, coordinator?.held == nil {
            coordinator?.turn = SimCoordinator.Turn()
            carryOut(turn)
        }
        checkMemory()
    }

    /// One transaction, then what it allows to say and do; the process may die at every step.
    private mutating func carryOut(_ turn: SimCoordinator.Turn) {
        if mutant == .acknowledgesEarly { post(turn.letters) }
        if !turn.writes.isEmpty {
            if dies(.diedBeforeCommit) { return }
            guard store.fullUntil <= now else {
                marks.hit(.storeFull)
                coordinator?.held = turn
                return wakeCoordinator(by: now + 500)
            }
            for write in turn.writes {
                check(write)
                store.apply(write, now: now)
            }
            if dies(.diedAfterCommit) { return }
        }
        let half = turn.letters.count / 2
        if mutant != .acknowledgesEarly {
            post(Array(turn.letters[..<half]))
            if half > 0, dies(.diedBetweenLetters) { return }
            post(Array(turn.letters[half...]))
        }
        for reply in turn.replies {
            if case .ordered(let client, let step) = reply { silence(client, step) }
            post(.toClient(reply), worker: nil)
        }
        for chore in turn.chores {
            if dies(.diedBetweenChores) { return }
            start(chore)
        }
    }

    private mutating func dies(_ mark: Mark) -> Bool {
        guard !isHealed, swarm.crashPoint > 0, faultRandom.below(Int64(100_000)) < swarm.crashPoint else {
            return false
        }
        marks.hit(mark)
        killCoordinator()
        return true
    }

    private mutating func post(_ letters: [(session: SessionID, message: Outgoing)]) {
        for (session, message) in letters {
            observe(message, to: session)
            if let node = nodes.firstIndex(where: { $0.worker?.session == session }) {
                post(.toWorker(node, session, message), worker: node)
            } else if case .offer(let offer) = message, netRandom.perMille(700) {
                // The socket reports that the peer is gone.
                marks.hit(.undelivered)
                coordinator?.inbox.append(.work(.undelivered(session, [offer.token]), from: -1))
                wakeCoordinator(by: now + 1)
            }
        }
    }
}

extension CommitResult {
    /// Every blob that the commit names.
    var blobs: [Digest] {
        switch self {
        case .fetch(let digest, _, _): [digest]
        case .plan(let plan): [plan.digest]
        case .merge(let package): package.digests
        }
    }

    /// Bytes of each of them, as the commit says.
    var sizes: [UInt64] {
        switch self {
        case .fetch(_, let counts, _): [counts.shardBytes]
        case .plan(let plan): [plan.bytes]
        case .merge(let package): [package.size] + package.files.map(\.size)
        }
    }
}
