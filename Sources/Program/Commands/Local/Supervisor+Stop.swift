/// The end of all processes, and what is due at a time.
extension Supervisor {
    func isRunning(_ name: String) -> Bool {
        if case .running = states[name] { true } else { false }
    }

    /// The first time ends the processes in order, the second time at once.
    mutating func stop(now: Time) -> [Effect] {
        switch phase {
        case .starting, .running: stopAll(.stopped, now: now)
        case .stopping: killAll(.killed)
        case .finished: []
        }
    }

    mutating func stopAll(_ outcome: Outcome, now: Time) -> [Effect] {
        for (name, state) in states {
            if case .waiting = state { states[name] = .stopped }
        }
        return stopStage(before: stages.count, outcome, now: now)
    }

    /// Ends all processes at once.
    mutating func killAll(_ outcome: Outcome) -> [Effect] {
        guard phase != .finished else { return [] }
        phase = .finished
        return kills() + [.finish(outcome)]
    }

    /// Ends what runs, the last stage first; the ends count as known.
    mutating func kills() -> [Effect] {
        let names = running(stages.joined().reversed())
        for name in stages.joined() { states[name] = .stopped }
        return names.map { .kill($0) }
    }

    /// Asks the last stage before this one that has running processes to end.
    mutating func stopStage(before stage: Int, _ outcome: Outcome, now: Time) -> [Effect] {
        for earlier in (0..<stage).reversed() {
            let names = running(stages[earlier])
            guard !names.isEmpty else { continue }
            phase = .stopping(stage: earlier, until: now + Self.patience, outcome)
            return names.map { .terminate($0) }
        }
        phase = .finished
        return [.finish(outcome)]
    }

    /// Starts processes whose wait has ended; kills those that did not end in time.
    mutating func alarm(now: Time) -> [Effect] {
        switch phase {
        case .starting, .running:
            return stages.joined().compactMap { name in
                guard case .waiting(let until) = states[name], until <= now else { return nil }
                states[name] = .running(since: now, isReady: false)
                return .start(name, isFirst: phase == .starting(stage: 0))
            }
        case .stopping(let stage, let until?, let outcome) where until <= now:
            // Their ends are reported as events.
            phase = .stopping(stage: stage, until: nil, outcome)
            return running(stages[stage]).map { .kill($0) }
        case .stopping, .finished: return []
        }
    }

    private func running(_ names: some Sequence<String>) -> [String] { names.filter(isRunning) }
}
