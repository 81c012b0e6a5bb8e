/// The rules of `packhorse up`: in which order processes start and end, and when one is started again.
///
/// Processes are in stages. A stage starts when all processes of the stage before are ready. They end in the reverse
/// order: a stage is asked to end when all processes of the stages behind it have ended.
struct Supervisor {
    typealias Time = ContinuousClock.Instant

    enum Event: Equatable, Sendable {
        case begin
        /// The process can be used.
        case ready(String)
        /// The process has ended, or could not be started.
        case ended(String)
        /// A signal asks for the end.
        case stop
        /// ``Supervisor/alarm`` is reached.
        case alarm
    }

    enum Effect: Equatable {
        case start(String, isFirst: Bool)
        /// Ask the process to end.
        case terminate(String)
        /// End the process at once.
        case kill(String)
        /// Log that the process has ended and is started again.
        case tellRestart(String, wait: Duration)
        /// Print that everything is up.
        case logReady
        /// Nothing is running any more.
        case finish(Outcome)
    }

    enum Outcome: Equatable {
        /// All processes ended in order.
        case stopped
        /// This process ended before everything was up.
        case failed(String)
        /// A second signal ended the processes at once.
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
    var phase = Phase.starting(stage: 0)
    var states: [String: State] = [:]
    private var delays: [String: RestartDelay] = [:]

    /// - Parameter stages: Names of processes; no stage is empty.
    init(stages: [[String]]) { self.stages = stages }

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
        case .begin: start(stages[0], isFirst: true, now: now)
        case .ready(let name): ready(name, now: now)
        case .ended(let name): ended(name, now: now)
        case .stop: stop(now: now)
        case .alarm: alarm(now: now)
        }
    }

    private mutating func start(_ names: [String], isFirst: Bool, now: Time) -> [Effect] {
        names.map { name in
            states[name] = .running(since: now, isReady: false)
            return .start(name, isFirst: isFirst)
        }
    }

    private mutating func ready(_ name: String, now: Time) -> [Effect] {
        guard case .running(let since, false) = states[name] else { return [] }
        states[name] = .running(since: since, isReady: true)
        guard case .starting(let stage) = phase, stages[stage].allSatisfy(isReady) else { return [] }
        guard stage + 1 < stages.count else {
            phase = .running
            return [.logReady]
        }
        phase = .starting(stage: stage + 1)
        return start(stages[stage + 1], isFirst: true, now: now)
    }

    private func isReady(_ name: String) -> Bool {
        if case .running(_, true) = states[name] { true } else { false }
    }

    private mutating func ended(_ name: String, now: Time) -> [Effect] {
        guard case .running(let since, _) = states[name] else { return [] }
        states[name] = .stopped
        switch phase {
        case .starting: return stopAll(.failed(name), now: now)
        case .running:
            let wait = delays[name, default: RestartDelay()].wait(afterRunning: now - since)
            states[name] = .waiting(until: now + wait)
            return [.tellRestart(name, wait: wait)]
        case .stopping(let stage, _, let outcome):
            guard !stages[stage].contains(where: isRunning) else { return [] }
            return stopStage(before: stage, outcome, now: now)
        case .finished: return []
        }
    }
}
