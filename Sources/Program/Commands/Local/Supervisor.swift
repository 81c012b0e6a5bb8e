/// The rules of ``LocalProcesses``: in which order processes start and end, and when one is started again.
///
/// Processes are in stages. A stage starts when all processes of the stage before are ready. They end in the reverse
/// order: a stage is asked to end when all processes of the stages behind it have ended.
///
/// One rule holds for every process and at every time: one that was killed is started again. One that ends by itself says
/// why, and what that means depends on the ``Restart``.
struct Supervisor {
    typealias Time = ContinuousClock.Instant

    /// What is started again when a process has ended.
    enum Restart: Equatable {
        /// The process, after a wait (``RestartDelay``).
        ///
        /// One that ends by itself before everything was up ends all.
        case each
        /// All processes at once, at most this often, so that the work of a killed one is handed out again at once.
        ///
        /// One that ends by itself ends all, unless it lacks what may come back (exit code 75): then all of them are
        /// started again every second until the patience ends.
        case all(most: Int, patience: Duration)
    }

    /// How a process has ended.
    enum End: Equatable, Sendable {
        /// By a signal.
        case killed
        /// By itself, and the same may work later.
        case temporarily
        /// By itself, or it could not be started.
        case forGood
    }

    enum Event: Equatable, Sendable {
        case begin
        /// The process can be used.
        case ready(String)
        /// The process has ended, or could not be started.
        case ended(String, End)
        /// End the processes in order; the second time at once.
        case stop
        /// End the processes at once.
        case kill
        /// ``Supervisor/alarm`` is reached.
        case alarm
    }

    enum Effect: Equatable {
        case start(String, isFirst: Bool)
        /// Ask the process to end.
        case terminate(String)
        /// End the process at once.
        case kill(String)
        /// Say that the process has ended and is started again.
        case tellRestart(String, wait: Duration)
        /// All processes can be used.
        case isUp
        /// Nothing is running any more.
        case finish(Outcome)
    }

    enum Outcome: Equatable {
        /// All processes ended in order.
        case stopped
        /// This process has ended, and is not started again.
        case failed(String)
        /// The processes were ended at once.
        case killed
    }

    /// How long a stage may take to end before its processes are killed.
    ///
    /// A worker that is asked to end gives itself 12 s (`ServiceRunner`).
    static let patience = Duration.seconds(15)

    enum Phase: Equatable {
        case starting(stage: Int)
        case running
        case stopping(stage: Int, until: Time?, Outcome)
        case finished
    }

    enum State: Equatable {
        case stopped
        case running(since: Time, isReady: Bool)
        case waiting(until: Time)
    }

    let stages: [[String]]
    let restart: Restart
    var phase = Phase.starting(stage: 0)
    var states: [String: State] = [:]
    private var delays: [String: RestartDelay] = [:]
    /// Restarts of all processes after one was killed.
    private var restarts = 0
    /// When the processes first lacked what may come back; `nil` = they were up since.
    private var lacksSince: Time?

    /// - Parameter stages: Names of processes; no stage is empty.
    init(stages: [[String]], restart: Restart) {
        self.stages = stages
        self.restart = restart
    }

    /// When ``Event/alarm`` is due.
    var alarm: Time? {
        if case .stopping(_, let until, _) = phase { return until }
        return states.values.compactMap { if case .waiting(let until) = $0 { until } else { nil } }.min()
    }

    /// Applies an event.
    ///
    /// - Returns: What is to be done, in order.
    mutating func handle(_ event: Event, now: Time) -> [Effect] {
        switch event {
        case .begin: begin(now: now)
        case .ready(let name): ready(name, now: now)
        case .ended(let name, let end): ended(name, end, now: now)
        case .stop: stop(now: now)
        case .kill: killAll(.killed)
        case .alarm: alarm(now: now)
        }
    }

    private mutating func begin(now: Time) -> [Effect] {
        phase = .starting(stage: 0)
        return start(stages[0], now: now)
    }

    private mutating func start(_ names: [String], now: Time) -> [Effect] {
        names.map { name in
            states[name] = .running(since: now, isReady: false)
            return .start(name, isFirst: true)
        }
    }

    private mutating func ready(_ name: String, now: Time) -> [Effect] {
        guard case .running(let since, false) = states[name] else { return [] }
        states[name] = .running(since: since, isReady: true)
        guard case .starting(let stage) = phase, stages[stage].allSatisfy(isReady) else { return [] }
        guard stage + 1 < stages.count else {
            phase = .running
            lacksSince = nil
            return [.isUp]
        }
        phase = .starting(stage: stage + 1)
        return start(stages[stage + 1], now: now)
    }

    private func isReady(_ name: String) -> Bool {
        if case .running(_, true) = states[name] { true } else { false }
    }

    private mutating func ended(_ name: String, _ end: End, now: Time) -> [Effect] {
        guard case .running(let since, _) = states[name] else { return [] }
        states[name] = .stopped
        switch phase {
        case .starting, .running: return endedEarly(name, end, ran: now - since, now: now)
        case .stopping(let stage, _, let outcome):
            guard !stages[stage].contains(where: isRunning) else { return [] }
            return stopStage(before: stage, outcome, now: now)
        case .finished: return []
        }
    }

    /// A process has ended without a request.
    private mutating func endedEarly(_ name: String, _ end: End, ran: Duration, now: Time) -> [Effect] {
        switch restart {
        case .each:
            guard phase == .running || end == .killed else { return stopAll(.failed(name), now: now) }
            let wait = delays[name, default: RestartDelay()].wait(afterRunning: ran)
            states[name] = .waiting(until: now + wait)
            return [.tellRestart(name, wait: wait)]
        case .all(let most, let patience):
            switch end {
            case .killed where restarts < most:
                restarts += 1
                let others = kills()
                return [.tellRestart(name, wait: .zero)] + others + begin(now: now)
            case .temporarily where now - (lacksSince ?? now) < patience:
                // What is waited for is said once.
                let told = lacksSince == nil ? [Effect.tellRestart(name, wait: RestartDelay.first)] : []
                lacksSince = lacksSince ?? now
                let others = kills()
                phase = .starting(stage: 0)
                for first in stages[0] { states[first] = .waiting(until: now + RestartDelay.first) }
                return told + others
            default: return killAll(.failed(name))
            }
        }
    }
}
