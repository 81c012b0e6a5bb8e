/// Waits until something is true that no event reports.
public enum Eventually {
    /// Looks until `condition` holds.
    ///
    /// - Parameters:
    ///   - what: What is waited for, for the error.
    ///   - pause: The time between two looks.
    /// - Throws: ``TimedOut`` after `limit`, and what `condition` throws.
    public static func holds(
        _ what: String, within limit: Duration = .seconds(600), every pause: Duration = .milliseconds(50),
        _ condition: () async throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline {
            if try await condition() { return }
            try await Task.sleep(for: pause)
        }
        throw TimedOut(what: what, limit: limit)
    }

    /// Looks until `value` is there.
    ///
    /// - Throws: ``TimedOut`` after `limit`, and what `value` throws.
    public static func get<Value>(
        _ what: String, within limit: Duration = .seconds(600), every pause: Duration = .milliseconds(50),
        _ value: () async throws -> Value?
    ) async throws -> Value {
        var found: Value?
        try await holds(what, within: limit, every: pause) {
            found = try await value()
            return found != nil
        }
        guard let found else { throw TimedOut(what: what, limit: limit) }
        return found
    }

    /// It did not come true in time.
    public struct TimedOut: Error, CustomStringConvertible {
        let what: String
        let limit: Duration

        /// What was waited for, and how long.
        public var description: String { "not within \(limit): \(what)" }
    }
}
