import Errors
import Foundation
import Logging
internal import Notifications
import Scheduling
import Telemetry
import Wire
import ZeroMQ

/// The loop of the coordinator: it collects frames and reports, applies them, commits one transaction, then sends.
///
/// Rule: no message is sent before the state that it reports is durable. Otherwise, after a crash between the two, a
/// worker would forget a shard that the coordinator does not know. Nothing but the commit blocks the loop for long.
///
/// The loop and its parts are used by one task.
final class CoordinatorLoop {
    /// The index of the endpoint of the command line.
    static let control = 0
    /// The index of the endpoint of the workers.
    static let work = 1

    private let environment: LoopEnvironment
    private let state: CoordinatorState
    private let health: HealthReporter
    private let control: ControlHandlers
    private let commits: CommitChecks
    private let reclaimer: BlobReclaimer
    private let steps: StepRunner
    private let backups: BackupRunner
    private let metrics: MetricsPublisher
    /// Whether the place of the backups belongs to another coordinator.
    private var isRefused = false
    private var origins = OriginWatch()
    private var nextOriginCheck = Tick(milliseconds: 0)

    init(_ environment: LoopEnvironment) {
        self.environment = environment
        state = CoordinatorState(environment)
        backups = BackupRunner(state)
        health = HealthReporter(state, backups)
        control = ControlHandlers(state, health)
        commits = CommitChecks(state)
        reclaimer = BlobReclaimer(state)
        steps = StepRunner(state)
        metrics = MetricsPublisher(state, health)
    }

    /// Serves until cancelled, then closes everything.
    func run() async throws {
        environment.executor.onReport { [router = environment.router] in router.wake() }
        let watch = Task { [tenure = environment.tenure] in await tenure.watch() }
        defer { watch.cancel() }
        do {
            try await inherit()
            var quietSince = environment.now
            while true {
                environment.options.onRound()
                let limit = patience
                let frames = try await environment.router.receive(upTo: .milliseconds(limit))
                // The process was suspended or got no CPU time. Messages from workers are still in the sockets and must
                // be read first.
                if environment.now - quietSince > limit + 5_000 {
                    try await environment.tenure.stoodStill()
                    state.handle(.loopStalled)
                    backups.hurry()
                }
                let began = ContinuousClock.now
                var rest = frames[...]
                repeat {
                    let start = ContinuousClock.now
                    for frame in rest.prefix(Self.tickSize) { accept(frame) }
                    rest = rest.dropFirst(Self.tickSize)
                    try await finishTick()
                    state.counters.recordTick(ContinuousClock.now - start)
                } while !rest.isEmpty
                state.counters.recordWait(ContinuousClock.now - began, now: environment.now)
                if state.scheduler.hasSpentTokens { throw CoordinatorError.spentTokens }
                if let damage = environment.store.foundDamage { throw damage }
                if let replacement = environment.tenure.replacement { throw replacement }
                quietSince = environment.now
            }
        } catch is CancellationError {
            await close(withBackup: true)
        } catch {
            await close()
            throw StateStore.damage(environment.store.file, error) ?? error
        }
    }

    /// The number of frames that one transaction takes; the same limit holds for reports of background work.
    ///
    /// Large enough to share one flush: from 16 frames on the flush no longer dominates. Small enough that a thousand
    /// workers that send at once are answered in turn, instead of all waiting for the last.
    private static let tickSize = 64

    /// Finishes a tick after its frames: reports, timers, one transaction, outbound frames.
    private func finishTick() async throws {
        for report in environment.executor.collect(Self.tickSize) { await handle(report) }
        reclaimer.retryPostponed()
        if let alarm = state.scheduler.nextAlarm, alarm <= environment.now { state.handle(.timer) }
        control.fireSchedules()
        steps.startDue()
        backups.startDue()
        reclaimer.forgetOldJobs()
        reclaimer.checkSpace()
        health.checkSpace()
        control.expireSubscriptions()
        control.continueFailedWorkOrder()
        state.collect(state.scheduler.divideBudgets(now: environment.now))
        logBlockedOrigins()
        try await finishEffects()
        metrics.publishIfDue()
    }

    /// Adds a line to the event log for each origin that has just been blocked.
    ///
    /// Looks once a second: a shorter block needs no operator.
    private func logBlockedOrigins() {
        let now = environment.now
        guard now >= nextOriginCheck else { return }
        nextOriginCheck = now + 1_000
        let blocks = origins.newBlocks(state.scheduler.origins(now: now), now: now)
        state.collect(blocks.map { Effect.store(.originBlocked($0)) })
    }

    /// How long the loop may sleep.
    ///
    /// Milliseconds.
    private var patience: Int64 {
        if environment.executor.hasReports || !control.failedWorkOrders.isEmpty { return 0 }
        if environment.executor.isBusy { return 10 }
        let next = [control.subscriptions.nextEnd, state.scheduler.nextAlarm].compactMap { $0 }.min()
        return next.map { min(max($0 - environment.now, 1), 1_000) } ?? 1_000
    }

    /// Ends all background work and closes everything.
    ///
    /// - Parameter withBackup: Whether what changed since the last backup is backed up before.
    private func close(withBackup: Bool = false) async {
        environment.publishQueue.close()
        environment.store.stopBackups()
        environment.executor.cancel(.steps)
        environment.executor.cancel(.stateBackups)
        await environment.notifier.stop()
        let left = await environment.executor.drain(within: environment.options.endPatience)
        if !left.isEmpty {
            environment.logger.warning(
                "Background work did not end in time; it is repeated after the next start",
                metadata: [LogKey.queue: "\(left.joined(separator: ", "))"])
        }
        await environment.router.close()
        if withBackup, let backups = environment.backups {
            let problem = await backups.makeLast(pages: environment.options.backupPages, within: .seconds(10))
            if let problem {
                environment.logger.warning(
                    "State not backed up at the end",
                    metadata: [LogKey.path: "\(backups.place)", LogKey.errorMessage: "\(problem)"])
            }
        }
        // A state that was made for a start that is refused would keep the next start from restoring one.
        if isRefused { environment.store.closeAndRemoveIfNew() } else { await environment.store.close() }
        environment.logger.notice("Coordinator stopped", metadata: [LogKey.epoch: "\(environment.store.epoch)"])
    }

    /// Restores the state from the state file.
    private func inherit() async throws {
        do {
            try await backups.begin()
            try await environment.tenure.announce()
        } catch {
            isRefused = true
            throw error
        }
        let inherited = try await InheritedState.load(environment.store)
        try await environment.notifier.start()
        let open = inherited.stored.jobs.filter { !$0.summary.state.isFinal }.count
        state.jobs = inherited.jobs
        for (job, spec) in state.jobs.specs(where: { _ in true }) {
            environment.places.note(job, spec)
        }
        state.steps = inherited.steps
        for job in inherited.unreleased { state.releases.add(job) }
        state.scheduler = inherited.scheduler(environment)
        state.counters.begin(inherited.stored.schedules, lastEvent: inherited.stored.lastEvent)
        state.collect(state.scheduler.start(now: environment.now))
        state.tick.tasks.append(.releaseBlobs)
        reclaimer.removeForgottenRows()
        // Runs after the release of blobs of ended jobs, which this tick starts first.
        try await finishEffects()
        try await reclaimer.sweep(isIdle: open == 0)
        environment.logger.notice(
            "Coordinator started",
            metadata: [
                LogKey.epoch: "\(environment.store.epoch)",
                LogKey.endpoint: "\(environment.router.boundEndpoints.joined(separator: " "))",
                LogKey.openJobs: "\(open)",
            ])
    }

    // MARK: - Input

    /// Handles one frame from a peer.
    private func accept(_ inbound: Inbound) {
        guard !state.workers.isIgnored(inbound.peer), let frame = decode(inbound) else { return }
        let isControl = inbound.endpointIndex == Self.control
        state.counters.recordFrame(isControl: isControl)
        let replyAddress = ReplyAddress(peer: inbound.peer, session: SessionID(frame.session), seq: frame.seq)
        if let needed = Permissions.missing(frame.message, inbound.roles) {
            return refuse(frame, inbound: inbound, replyAddress: replyAddress, needing: needed)
        }
        if isControl { return control.handle(frame, replyAddress) }
        perform(state.workers.receive(frame, inbound: inbound, scheduler: state.scheduler))
    }

    /// Answers a peer whose key lacks a role.
    private func refuse(_ frame: Frame, inbound: Inbound, replyAddress: ReplyAddress, needing needed: PeerRoles) {
        let (text, hint) = Permissions.refusal(of: frame.message.type, needing: needed, inbound)
        environment.logger.notice(
            "Message forbidden",
            metadata: [
                LogKey.peerUser: "\(inbound.user ?? "-")", LogKey.message: "\(frame.message.type)",
                LogKey.errorMessage: "\(text)",
            ])
        if inbound.endpointIndex == Self.control {
            return state.reply(WireConversions.problem("forbidden", text, hint: hint), to: replyAddress)
        }
        let body = PBReject.make {
            $0.code = "forbidden"
            $0.text = "\(text) \(hint.prefix(1).uppercased() + hint.dropFirst())."
        }
        perform(state.workers.forbid(body, frame: frame, inbound: inbound))
    }

    /// Budgets are divided once per tick, after all of its frames.
    private func perform(_ effects: [WorkerEffect]) {
        for effect in effects {
            switch effect {
            case .apply(let event, let request): state.apply(event, answering: request)
            case .send(let frame): state.tick.frames.append(frame)
            case .check(let commit, let request): commits.start(commit, request)
            }
        }
    }

    /// The decoded frame, or `nil` for a malformed one, which counts against its peer.
    private func decode(_ inbound: Inbound) -> Frame? {
        do {
            return try Frame(decoding: inbound.bytes)
        } catch {
            state.workers.strike(inbound, "\(error)")
            let isControl = inbound.endpointIndex == Self.control
            // The peer of another major version cannot read the answer either, but sees the mismatch.
            if error.code == .versionMismatch {
                let reject = PBReject.make { ($0.code, $0.text) = ("version-mismatch", error.message) }
                let answer = isControl ? WireConversions.problem("version-mismatch", error.message) : .reject(reject)
                state.tick.frames += [environment.frame(answer, to: inbound.peer, session: 1)].compactMap { $0 }
            }
            // A header of our major version is enough to answer the sender. All other malformed frames are dropped.
            if let header = error.header, isControl {
                let text = WireConversions.problem("\(error.code)", error.message)
                state.reply(
                    text, to: ReplyAddress(peer: inbound.peer, session: SessionID(header.session), seq: header.seq))
            }
            return nil
        }
    }

    // MARK: - Background work

    /// Handles the result of work that was done outside the loop.
    private func handle(_ report: Report) async {
        switch report {
        case .answer(let replyAddress, let message): state.reply(message, to: replyAddress)
        case .planned(let replyAddress, let result, let isDry, let schedule):
            control.planned(result, isDry: isDry, schedule: schedule, replyAddress)
        case .firePlanned(let firing, let result): control.fired(firing, result)
        case .fireFailed(let firing, let trouble, let mayHeal):
            control.fireFailed(firing, trouble, retriable: mayHeal)
        case .fireUnchanged(let firing, let build): control.fireUnchanged(firing, build: build)
        case .lookupFailed(let firing, let trouble): control.lookupFailed(firing, trouble)
        case .newestFound(let replyAddress, let schedule, let result):
            control.newestFound(result, schedule: schedule, replyAddress)
        case .scheduleFrozen(let replyAddress, let schedule, let changed, let current):
            control.frozen(schedule, changing: changed, as: current, replyAddress)
        case .scheduleToEdit(let replyAddress, let order, let payload):
            control.edit(order, payload: payload, replyAddress)
        case .scheduleRead(let replyAddress, let body, let payload):
            control.runSchedule(body, payload: payload, replyAddress)
        case .schedulePlanned(let replyAddress, let schedule, let changed, let payload, let result):
            control.put(schedule, changing: changed, payload: payload, result: result, replyAddress: replyAddress)
        case .remergePlanned(let replyAddress, let job, let result):
            control.remergePlanned(job, result: result, replyAddress)
        case .reopenPlanned(let replyAddress, let job, let only, let ended, let result):
            control.reopened(job, only: only, ended: ended, result: result, replyAddress: replyAddress)
        case .failedWorkFound(let replyAddress, let body, let failed):
            control.orderFailedWork(body, of: failed, replyAddress)
        case .failedWorkDropped(let replyAddress, let job, let chosen, let count, let result):
            control.dropped(job, chosen: chosen, count: count, result: result, replyAddress: replyAddress)
        case .historyRead(let replyAddress, let body, let page):
            control.listJobs(body, old: page, replyAddress: replyAddress)
        case .eventsRead(let read, let answer, let isEmpty): control.eventsRead(read, answer, isEmpty: isEmpty)
        case .event(let event): handle(event)
        case .events(let events): for event in events { handle(event) }
        case .written(let job, let package, let digest, let decides):
            state.manifestWritten(job, package: package, digest, decides: decides)
        case .checked(let check, let request, let result, let trouble):
            commits.finish(check, request: request, result: result, trouble: trouble)
        case .unchecked(let check, let why): commits.abandon(check, why)
        case .stepEnded(let job, let number, let result): steps.ended(job, number: number, result)
        case .backedUp(let number, let begun, let problem):
            backups.ended(number: number, begun: begun, problem: problem)
        case .released(let job), .keptBlobs(let job): state.releases.end(job)
        case .postponed(let job, let left): state.releases.postpone(job, left)
        case .trimPostponed(let job, let left): state.releases.postponeTrim(of: job, left)
        case .space(let folder, let space): health.setSpace(space, of: folder)
        case .blobUsage(let usage): metrics.setBlobs(usage)
        case .newestBackup(let wall): metrics.setBackup(wall)
        }
    }

    /// Handles an event that background work reports.
    private func handle(_ event: Event) {
        state.counters.recordPublication(event)
        state.handle(event)
    }

    /// Starts work outside the loop.
    ///
    /// Its report comes back through the queue of reports.
    private func start(_ task: BackgroundTask) async {
        switch task {
        case .writeManifest(let job, let package): state.writeManifest(job, package)
        case .publish(let job, let package, let merged): state.publish(job, package: package, merged: merged)
        case .publishTogether(let job): state.publishTogether(job)
        case .releaseBlobs: reclaimer.releaseBlobs()
        case .trimBlobs(let job): if backups.mayTrim(job) { reclaimer.trimBlobs(of: job) }
        case .reopen(let replyAddress, let job, let only, let permits):
            control.reopen(job, only: only, permits: permits, replyAddress)
        case .failedWorkOrder(let replyAddress, let body): control.orderFailedWork(body, replyAddress)
        case .fireSchedule(let schedule, let due): control.fire(schedule, due: due)
        case .runSchedule(let replyAddress, let body): control.runSchedule(body, replyAddress)
        case .run(let queue, let work): environment.executor.run(on: queue, work)
        }
    }

    // MARK: - Commit

    /// Commits the tick's writes, then sends its frames and starts its background work.
    ///
    /// Frames that cannot be delivered cause another tick.
    private func finishEffects() async throws {
        while !state.tick.isEmpty {
            let tick = state.tick
            state.tick = LoopTick()
            if !tick.urgentFrames.isEmpty { _ = await send(tick.urgentFrames) }
            if !tick.writes.isEmpty || tick.holders != nil { try await commit(tick) }
            let lost = await send(tick.frames)
            for task in tick.tasks { await start(task) }
            if tick.writes.contains(where: { $0.possibleNotification != nil }) { environment.notifier.wake() }
            if !tick.writes.isEmpty, !control.subscriptions.isEmpty {
                control.committed(Set(tick.writes.map(ChangeCodec.job(of:))))
            }
            if !lost.isEmpty { returnOffers(of: tick, to: lost) }
        }
    }

    /// Returns the peers that a frame could not be delivered to.
    private func send(_ frames: [OutboundFrame]) async -> Set<PeerID> {
        Set(await environment.router.send(frames.map { ($0.peer, $0.bytes) }))
    }

    private func returnOffers(of tick: LoopTick, to lost: Set<PeerID>) {
        var offers: [SessionID: [LeaseToken]] = [:]
        for frame in tick.frames where lost.contains(frame.peer) {
            if let offer = frame.offer { offers[offer.session, default: []].append(offer.token) }
        }
        for (session, tokens) in offers.sorted(by: { $0.key < $1.key }) {
            environment.logger.debug(
                "Offers not delivered",
                metadata: [LogKey.session: "\(session)", LogKey.leases: "\(tokens.count)"])
            state.handle(.undelivered(session, tokens))
        }
    }

    /// Makes writes durable, however long that takes.
    ///
    /// While the disk is full, results are not acknowledged and no work is handed out. Only health requests and
    /// refusals are answered. Nothing is lost: workers repeat their messages. The command line is told at once that its
    /// requests wait.
    private func commit(_ tick: LoopTick) async throws {
        while true {
            do {
                let start = ContinuousClock.now
                let last = try await environment.store.apply(
                    tick.writes, holders: tick.holders, wall: environment.wall)
                state.counters.recordTransaction(ContinuousClock.now - start, lastEvent: last)
                if health.isDegraded {
                    health.unwritable = nil
                    environment.logger.notice("State file writable again")
                    state.handle(.loopStalled)
                }
                return
            } catch  where StateStore.mayHeal(error) {
                let wasDegraded = health.isDegraded
                health.unwritable = StateStore.unwritable(error)
                if !wasDegraded {
                    environment.logger.error(
                        "State file not writable; free space on its disk",
                        metadata: [
                            LogKey.path: "\(environment.store.file.path)", LogKey.errorMessage: "\(error)",
                        ])
                    _ = await send(tick.frames.compactMap(\.request).compactMap { degraded($0) })
                }
                metrics.publishIfDue()
                try await serveDegraded()
            } catch let error as CoordinatorError where error.code == .damagedState {
                throw error
            } catch {
                let folder = environment.options.data.path
                throw CoordinatorError(
                    .store, "The state file in '\(folder)' refused a change: \(error). Nothing was acknowledged.",
                    hint: "check it: packhorse state check --data '\(folder)'", cause: error)
            }
        }
    }

    /// Serves half a second without a state file.
    private func serveDegraded() async throws {
        let end = environment.now + 500
        while environment.now < end {
            let limit = max(end - environment.now, 1)
            var answers: [OutboundFrame] = []
            for inbound in try await environment.router.receive(upTo: .milliseconds(limit))
            where inbound.endpointIndex == Self.control {
                guard let frame = decode(inbound) else { continue }
                let request = ReplyAddress(peer: inbound.peer, session: SessionID(frame.session), seq: frame.seq)
                let isPing = if case .ping = frame.message { true } else { false }
                if let answer = degraded(request, isPing ? health.report() : nil) { answers.append(answer) }
            }
            _ = await send(answers)
        }
    }

    /// An answer while the state file cannot be written.
    private func degraded(_ request: ReplyAddress, _ message: Message? = nil) -> OutboundFrame? {
        let file = environment.store.file
        let problem = WireConversions.problem(
            "degraded", "The state file '\(file.path)' cannot be written: \(health.unwritable ?? "").",
            hint: "free space on the disk of '\(file.deletingLastPathComponent().path)', or mend it", retriable: true)
        return environment.frame(
            message ?? problem, to: request.peer, session: request.session, re: request.seq)
    }
}
