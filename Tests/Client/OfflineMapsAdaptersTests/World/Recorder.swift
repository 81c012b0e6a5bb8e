import Synchronization

/// Keeps what was told, and lets a test wait for something.
final class Recorder<Told: Sendable>: Sendable {
    private struct State {
        var told: [Told] = []
        var waiting: [(isWanted: @Sendable (Told) -> Bool, continuation: CheckedContinuation<Told, Never>)] = []
    }
    private let state = Mutex(State())

    /// Everything so far, in its order.
    var all: [Told] { state.withLock { $0.told } }

    func add(_ told: Told) {
        let woken = state.withLock { state in
            state.told.append(told)
            let woken = state.waiting.filter { $0.isWanted(told) }.map(\.continuation)
            state.waiting.removeAll { $0.isWanted(told) }
            return woken
        }
        for continuation in woken { continuation.resume(returning: told) }
    }

    /// The first that is wanted, of the past or of the future.
    @discardableResult
    func first(_ isWanted: @escaping @Sendable (Told) -> Bool) async -> Told {
        await withCheckedContinuation { continuation in
            let found = state.withLock { state -> Told? in
                if let known = state.told.first(where: isWanted) { return known }
                state.waiting.append((isWanted, continuation))
                return nil
            }
            if let found { continuation.resume(returning: found) }
        }
    }

    /// Forgets the past.
    func forget() { state.withLock { $0.told = [] } }
}
