internal import Synchronization

/// Joins equal requests: while one is under way, others wait for its result.
///
/// A request ends early when no caller waits for it any more.
final class SharedRequests<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Flight {
        let number: Int
        let task: Task<Value, Never>
        var callers: Int
    }
    private struct State {
        var flights: [Key: Flight] = [:]
        var last = 0
    }
    private let state = Mutex(State())

    /// The result of the request that is under way for a key, or of a new one.
    func value(_ key: Key, _ work: @escaping @Sendable () async -> Value) async -> Value {
        let (number, task) = state.withLock { state in
            if let flight = state.flights[key] {
                state.flights[key]?.callers += 1
                return (flight.number, flight.task)
            }
            state.last += 1
            let number = state.last
            let task = Task {
                let value = await work()
                self.end(key, number)
                return value
            }
            state.flights[key] = Flight(number: number, task: task, callers: 1)
            return (number, task)
        }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            leave(key, number)
        }
    }

    private func end(_ key: Key, _ number: Int) {
        state.withLock { if $0.flights[key]?.number == number { $0.flights[key] = nil } }
    }

    private func leave(_ key: Key, _ number: Int) {
        let task = state.withLock { state -> Task<Value, Never>? in
            guard let flight = state.flights[key], flight.number == number else { return nil }
            state.flights[key]?.callers -= 1
            guard flight.callers == 1 else { return nil }
            // A later caller begins a new request.
            state.flights[key] = nil
            return flight.task
        }
        task?.cancel()
    }
}
