internal import Dispatch
internal import Synchronization

/// Blocking work on its own thread; the caller can wait for its result.
package final class BackgroundTask<Outcome: Sendable>: Sendable {
    /// State shared with the thread; the thread must not hold this object.
    private final class Place: Sendable {
        let outcome = Mutex<Result<Outcome, any Error>?>(nil)
    }
    private let place = Place()
    private let end = DispatchGroup()

    /// Starts it.
    package init(_ name: String, _ work: @escaping @Sendable () throws -> Outcome) {
        DispatchQueue(label: "packhorse.\(name)").async(group: end) { [place] in
            let result = Result(catching: work)
            place.outcome.withLock { $0 = result }
        }
    }

    /// Waits for the end.
    ///
    /// - Parameter tick: Called twice a second; what it throws ends the waiting, not the work.
    /// - Throws: What the work threw.
    package func wait(_ tick: () throws -> Void = {}) throws -> Outcome {
        while end.wait(timeout: .now() + .milliseconds(500)) == .timedOut { try tick() }
        guard let result = place.outcome.withLock({ $0 }) else {
            preconditionFailure("The background thread ended without a result.")
        }
        return try result.get()
    }
}
