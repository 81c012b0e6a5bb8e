import Synchronization

/// Keeps what was told, and lets a test wait for something.
final class Recorder<Told: Sendable>: Sendable {
    private struct Waiting {
        let isWanted: @Sendable (Told) -> Bool
        let continuation: CheckedContinuation<Told, any Error>
    }
    private struct State {
        var told: [Told] = []
        var waiting: [Int: Waiting] = [:]
        var last = 0
    }
    private let state = Mutex(State())

    /// Everything so far, in its order.
    var all: [Told] { state.withLock { $0.told } }

    func add(_ told: Told) {
        let woken = state.withLock { state in
            state.told.append(told)
            let woken = state.waiting.filter { $0.value.isWanted(told) }
            for number in woken.keys { state.waiting[number] = nil }
            return woken.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume(returning: told) }
    }

    /// The first that is wanted, of the past or of the future.
    ///
    /// - Throws: `CancellationError` when the test has taken too long.
    @discardableResult
    func first(_ isWanted: @escaping @Sendable (Told) -> Bool) async throws -> Told {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer = state.withLock { state -> Result<Told, any Error>? in
                    if let known = state.told.first(where: isWanted) { return .success(known) }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiting[number] = Waiting(isWanted: isWanted, continuation: continuation)
                    return nil
                }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.continuation.resume(
                throwing: CancellationError())
        }
    }

    /// Forgets the past.
    func forget() { state.withLock { $0.told = [] } }
}
