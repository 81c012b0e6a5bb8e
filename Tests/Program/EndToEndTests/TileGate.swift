import Foundation
import Synchronization

/// Lets a number of requests through and holds the others, so that a test stops a job in the middle however busy the machine is.
final class TileGate: Sendable {
    private struct State {
        var left = Int.max
        var isHolding = false
        /// How often the number was set; requests held before are answered and no longer count.
        var round = 0
    }
    private let state = Mutex(State())

    /// Answers what it holds, lets so many more requests through, then holds all others.
    func allow(_ count: Int) {
        state.withLock { $0 = State(left: count, isHolding: false, round: $0.round + 1) }
    }

    /// Lets every request through.
    func open() { allow(.max) }

    /// Whether it let through what it was allowed to, and holds a request now.
    var isHolding: Bool { state.withLock(\.isHolding) }

    /// Returns when a request may be answered.
    func pass() {
        let round = state.withLock(\.round)
        while !mayPass(round) { usleep(5_000) }
    }

    private func mayPass(_ round: Int) -> Bool {
        state.withLock { state in
            guard state.round == round else { return true }
            guard state.left > 0 else {
                state.isHolding = true
                return false
            }
            state.left -= 1
            return true
        }
    }
}
