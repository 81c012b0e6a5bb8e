internal import Errors

/// Samples tile servers for people who choose a map.
actor MapSampler {
    /// What a question came to.
    enum Outcome: Sendable, Hashable {
        case sample(MapSample)
        /// No sample was made: the reason, as a sentence for people, and whether the same question may succeed after some seconds.
        case none(String, mayAskAgain: Bool)
    }

    /// Tiles for each zoom on average: a third of what `packhorse estimate` takes, because a person who moves a box asks many times.
    static let count = 8

    private let source: MapSample.Source
    private let patience: Duration
    private var samples = KeptSamples<Task<Outcome, Never>>()
    private let start = ContinuousClock.now

    /// - Parameter patience: How long one sample may take.
    init(_ source: @escaping MapSample.Source, patience: Duration = .seconds(30)) {
        (self.source, self.patience) = (source, patience)
    }

    private var now: Double { (ContinuousClock.now - start) / .seconds(1) }

    /// The sample of a map.
    ///
    /// - Parameters:
    ///   - key: Equal for equal maps.
    ///   - refusal: Asked before anything is fetched; a text says why nothing may be fetched now.
    func outcome(
        _ key: String, _ question: MapSample.Question, refusal: @Sendable () async -> String?
    ) async -> Outcome {
        switch samples.turn(key, now: now) {
        case .known(let task): return await task.value
        case .later: return Self.later
        case .make: break
        }
        if let reason = await refusal() { return .none(reason, mayAskAgain: false) }
        // Another request may have begun the same sample since.
        switch samples.turn(key, now: now) {
        case .known(let task): return await task.value
        case .later: return Self.later
        case .make:
            let task = Task { [source, patience] in await Self.make(question, of: source, within: patience) }
            samples.keep(task, key, now: now)
            let outcome = await task.value
            let isGood = if case .sample = outcome { true } else { false }
            samples.end(key, isGood: isGood, now: now)
            return outcome
        }
    }

    private static let later = Outcome.none("Other maps are being measured.", mayAskAgain: true)

    private static func make(
        _ question: MapSample.Question, of source: @escaping MapSample.Source, within patience: Duration
    ) async -> Outcome {
        await withTaskGroup(of: Outcome?.self) { group in
            group.addTask {
                do { return .sample(try await source(question)) } catch is CancellationError { return nil } catch {
                    return .none((error as? any CodedError)?.message ?? "\(error)", mayAskAgain: false)
                }
            }
            group.addTask {
                // A cancelled sleep ends the wait.
                try? await Task.sleep(for: patience)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first ?? .none("The tile server did not answer in time.", mayAskAgain: false)
        }
    }
}
