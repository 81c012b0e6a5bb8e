internal import Errors
internal import Logging
internal import Scheduling
internal import Telemetry
internal import Wire
internal import ZeroMQ

/// Carries out the decisions of ``WorkerCore``: frames on the link, work in tasks, time from a clock.
actor WorkerShell {
    private enum Outgoing {
        case message(Message)
        case reconnect
    }

    private var core: WorkerCore
    private let link: CoordinatorLink
    private let runner: any WorkRunner
    private let budgets: WorkerBudgets
    private let metrics: WorkerMetrics
    private let logger: Logger
    private let onWelcome: @Sendable (PBWelcome) async -> Void
    private let started = ContinuousClock.now
    private var tasks: [UInt64: Task<Void, Never>] = [:]
    private var meters: [UInt64: WorkMeter] = [:]
    private var kinds: [UInt64: WorkerMetrics.Work] = [:]
    private var outbox: [Outgoing] = []
    private var isSending = false
    private var lastState = LinkState.connecting
    /// Whether the missing coordinator was already logged.
    private var isMissing = false
    private var seq: UInt64 = 0
    private var obeyed = ObeyedEpoch()
    private var lastHeard: Int64 = 0
    private var lastEndpoint: String
    /// Why the worker ended; `nil` while it runs.
    private(set) var end: WorkerEnd?

    /// - Parameter onWelcome: Called with the coordinator's welcome message, before any offer is handled.
    init(
        _ core: WorkerCore, link: CoordinatorLink, runner: any WorkRunner, logger: Logger,
        budgets: WorkerBudgets = WorkerBudgets(), metrics: WorkerMetrics = WorkerMetrics(),
        onWelcome: @escaping @Sendable (PBWelcome) async -> Void = { _ in }
    ) {
        self.onWelcome = onWelcome
        self.budgets = budgets
        self.metrics = metrics
        self.core = core
        self.link = link
        lastEndpoint = link.endpoint
        self.runner = runner
        self.logger = logger
    }

    /// Handles the frames that the link received, and the state of the link.
    func received(_ frames: [[UInt8]]) async {
        let state = link.state
        if state != lastState || link.endpoint != lastEndpoint {
            lastState = state
            lastEndpoint = link.endpoint
            metrics.recordLink(state)
            logChange(to: state)
            if state == .connected { await handle(.linked) }
        }
        for bytes in frames {
            do {
                let frame = try Frame(decoding: bytes)
                guard frame.session == core.session else { continue }
                guard obeys(frame.epoch) else { continue }
                lastHeard = now
                metrics.recordMessage()
                if isMissing {
                    isMissing = false
                    logger.notice("Coordinator connected", metadata: [LogKey.endpoint: "\(link.endpoint)"])
                }
                budgets.recordAnswer(epoch: frame.epoch, re: frame.re)
                trace("in", frame.message)
                if case .stale(let body) = frame.message {
                    metrics.addRefused()
                    logger.notice(
                        "Result refused by the coordinator; another worker has the lease",
                        metadata: [LogKey.token: "\(body.token)", LogKey.errorCode: "\(body.reason)"])
                }
                if case .welcome(let body) = frame.message { await onWelcome(body) }
                await receive(frame)
            } catch {
                logger.info("Frame refused", metadata: [LogKey.errorCode: "\(error.code)"])
                // The message cannot be read. The different version is enough information.
                if error.code == .versionMismatch { await handle(.otherVersion(error.message)) }
            }
        }
    }

    /// The highest epoch that was heard, and whether the coordinator does not answer.
    var standing: (epoch: UInt32, isLost: Bool) {
        (obeyed.highest, link.state != .connected || now - lastHeard > WorkerPolicy.lost)
    }

    /// Whether a message with this epoch is obeyed; the first one that is not is logged.
    private func obeys(_ epoch: UInt32) -> Bool {
        let isFirst = obeyed.ignored == 0
        let former = obeyed.highest
        let isObeyed = obeyed.obeys(epoch)
        if !isObeyed || obeyed.highest > former { metrics.setObeyed(obeyed) }
        guard !isObeyed, isFirst else { return isObeyed }
        logger.warning(
            "Messages of a coordinator that was replaced are ignored; end that coordinator, or restart this worker if its state was made from scratch",
            metadata: [
                LogKey.endpoint: "\(link.endpoint)", LogKey.epoch: "\(epoch)", LogKey.highestEpoch: "\(obeyed.highest)",
            ])
        return false
    }

    /// Handles the passing of time.
    ///
    /// Returns how long until the next call.
    func tick() async -> Duration {
        await handle(.tick(meters.mapValues(\.counters)))
        if budgets.isUrgent() { await handle(.report) }
        return min(.milliseconds(max(core.nextTick - now, 20)), budgets.pulse)
    }

    /// Takes no more work while a limit of this machine is reached; empty = none any more.
    func limit(_ reason: String) async { await handle(.limited(reason)) }

    /// Starts an orderly shutdown.
    func drain() async {
        logger.notice("Draining: leases are returned, results wait for acknowledgement")
        await handle(.drain)
    }

    /// Cancels all work and waits until it has stopped and all messages are sent, at most `limit`.
    ///
    /// Work that is blocked by a disk is abandoned. Its lease expires at the coordinator.
    func stop(within limit: Duration) async {
        for task in tasks.values { task.cancel() }
        let deadline = ContinuousClock.now + limit
        // In a separate task, because the caller may be cancelled and could not wait any more.
        await Task {
            while !tasks.isEmpty || isSending || !outbox.isEmpty, ContinuousClock.now < deadline {
                do { try await Task.sleep(for: .milliseconds(10)) } catch { return }
            }
            if !tasks.isEmpty {
                logger.warning("Work did not stop in time", metadata: [LogKey.leases: "\(tasks.count)"])
            }
        }.value
    }

    private var now: Int64 {
        (ContinuousClock.now - started).milliseconds
    }

    private func handle(_ event: WorkerEvent) async {
        let (wasAsked, wasOutOfTime) = (core.isAskedToLeave, core.isOutOfTime)
        let effects = core.handle(event, now: now)
        if core.isOutOfTime, !wasOutOfTime {
            logger.notice("The time limit is near; no more work is taken, and running work is finished where it can be")
        }
        if core.isAskedToLeave != wasAsked {
            logger.notice(
                wasAsked
                    ? "The coordinator withdrew its request to leave"
                    : "The coordinator asks this worker to leave; running work is finished first")
        }
        for effect in effects {
            switch effect {
            case .send(let message):
                if case .return(let body) = message { metrics.addReturned(body.tokens.count) }
                outbox.append(.message(message))
            case .reconnect: outbox.append(.reconnect)
            case .run(let offer): run(offer)
            case .cancel(let token): tasks[token]?.cancel()
            case .end(let reason): end = reason
            }
        }
        metrics.setHeld(core.counts)
        await flush()
    }

    private func run(_ offer: PBOffer) {
        let meter = WorkMeter()
        meters[offer.token] = meter
        if case .merge = offer.work { kinds[offer.token] = .merge } else { kinds[offer.token] = .fetch }
        logger.debug(
            "Work started", metadata: [LogKey.token: "\(offer.token)", LogKey.job: "\(offer.job)"])
        tasks[offer.token] = Task { [runner] in
            let outcome = await runner.run(offer, meter)
            await self.finished(offer.token, outcome)
        }
    }

    private func finished(_ token: UInt64, _ outcome: WorkOutcome) async {
        tasks[token] = nil
        meters[token] = nil
        if let kind = kinds.removeValue(forKey: token) { metrics.add(outcome, of: kind) }
        switch outcome {
        case .done: logger.debug("Work done", metadata: [LogKey.token: "\(token)"])
        case .cancelled: logger.debug("Work cancelled", metadata: [LogKey.token: "\(token)"])
        case .failed(let failure):
            logger.warning(
                "Work failed",
                metadata: [
                    LogKey.token: "\(token)", LogKey.errorCode: "\(failure.cause)",
                    LogKey.errorMessage: "\(failure.detail)",
                ])
        }
        await handle(.finished(token, outcome))
    }

    /// Sends in order, one batch at a time.
    ///
    /// Without a connection frames are dropped: the core repeats important messages, and the others would be stale when
    /// they are sent.
    private func flush() async {
        guard !isSending else { return }
        isSending = true
        defer { isSending = false }
        while !outbox.isEmpty {
            let batch = outbox
            outbox = []
            var frames: [[UInt8]] = []
            for item in batch {
                switch item {
                case .message(let message): encode(message).map { frames.append($0) }
                case .reconnect:
                    logger.log(
                        level: isMissing ? .info : .warning, "No coordinator answers; retrying",
                        metadata: [LogKey.endpoint: "\(link.endpoint)"])
                    isMissing = true
                    await link.reconnect()
                }
            }
            guard !frames.isEmpty, link.state == .connected else { continue }
            do {
                try await link.send(frames)
            } catch {
                logger.info("Messages not sent", metadata: [LogKey.errorCode: "\(error.code)"])
            }
        }
    }

    /// Grants go to the budgets, all other messages to the core.
    private func receive(_ frame: Frame) async {
        switch frame.message {
        case .rateGrants(let body): budgets.apply(body.grants, re: frame.re)
        case .pong(let body):
            budgets.apply(body.grants, re: frame.re)
            await handle(.message(frame.message, about: frame.session))
        // The core decides about all other messages.
        default: await handle(.message(frame.message, about: frame.session))
        }
        if budgets.isUrgent() { await handle(.report) }
    }

    private func encode(_ message: Message) -> [UInt8]? {
        var message = message
        seq += 1
        if case .progress(var body) = message {
            (body.origins, body.grants, body.namesHeld) = budgets.report(seq: seq)
            message = .progress(body)
        }
        trace("out", message)
        budgets.sent(seq)
        do {
            return try Frame(session: core.session, seq: seq, epoch: obeyed.highest, message).encoded()
        } catch {
            logger.error("Message not encodable", metadata: [LogKey.errorMessage: "\(error)"])
            return nil
        }
    }

    private func logChange(to state: LinkState) {
        switch state {
        case .refused(let reason):
            logger.warning(
                "Connection refused by the coordinator",
                metadata: [LogKey.endpoint: "\(link.endpoint)", LogKey.errorMessage: "\(reason)"])
        case .connecting, .connected, .disconnected, .closed:
            logger.info(
                "Link state changed",
                metadata: [LogKey.endpoint: "\(link.endpoint)", LogKey.linkState: "\(state)"])
        }
    }

    private func trace(_ direction: String, _ message: Message) {
        logger.trace(
            "Frame", metadata: [LogKey.direction: "\(direction)", LogKey.message: "\(message.type)"])
    }
}
