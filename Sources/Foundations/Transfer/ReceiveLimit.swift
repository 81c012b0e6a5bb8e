import Synchronization

/// A limit for the bytes that a process receives per second, shared by the budgets of all origins.
///
/// libcurl paces each request by its part of the limit. What arrives in spite of that, as the buffers of the system do,
/// is compensated: no request starts until then.
public final class ReceiveLimit: Sendable {
    private struct State {
        /// Received bytes that the limit has not yet compensated.
        var debt = 0.0
        var paidAt: ContinuousClock.Instant?
        var inFlight = 0
    }
    private let state = Mutex(State())
    private let bytesPerSecond: Double

    /// A limit that nothing has used.
    ///
    /// - Parameter bytesPerSecond: At least 1.
    public init(bytesPerSecond: UInt64) { self.bytesPerSecond = Double(max(bytesPerSecond, 1)) }

    /// Bytes per second that each request in flight may receive.
    var pace: Double { state.withLock { bytesPerSecond / Double(max($0.inFlight, 1)) } }

    /// The time until a request may start, at most a second; `nil` = it may start now.
    func delay(at now: ContinuousClock.Instant) -> Duration? {
        state.withLock { state in
            pay(&state, at: now)
            return state.debt > 0 ? .seconds(min(state.debt / bytesPerSecond, 1)) : nil
        }
    }

    /// Counts a request that starts.
    func begin() { state.withLock { $0.inFlight += 1 } }

    /// Counts a request that ended.
    func end() { state.withLock { $0.inFlight -= 1 } }

    /// Counts received bytes.
    func received(_ bytes: Int, at now: ContinuousClock.Instant) {
        state.withLock { state in
            pay(&state, at: now)
            state.debt += Double(bytes)
        }
    }

    private func pay(_ state: inout State, at now: ContinuousClock.Instant) {
        if let before = state.paidAt, now > before {
            state.debt = max(0, state.debt - (now - before) / .seconds(1) * bytesPerSecond)
        }
        state.paidAt = max(state.paidAt ?? now, now)
    }
}
