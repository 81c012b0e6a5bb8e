internal import Dispatch
internal import Synchronization

/// Hands values from one thread to another, in order; few are under way, so that neither runs away from the other.
final class Conveyor<Element: Sendable>: Sendable {
    private struct State {
        var waiting: [Element] = []
        var isClosed = false
    }
    private let state = Mutex(State())
    // Both begin at 0: Dispatch traps when one that began higher goes away lower.
    private let room = DispatchSemaphore(value: 0)
    private let filled = DispatchSemaphore(value: 0)

    /// - Parameter limit: Values that may wait.
    init(limit: Int) { for _ in 0..<limit { room.signal() } }

    /// Waits for room and puts a value down.
    ///
    /// - Returns: False when the conveyor was closed.
    func put(_ element: Element) -> Bool {
        room.wait()
        let isTaken = state.withLock { state in
            if !state.isClosed { state.waiting.append(element) }
            return !state.isClosed
        }
        // One that comes after the end leaves the room to the next, which must not wait forever.
        if isTaken { filled.signal() } else { room.signal() }
        return isTaken
    }

    /// Waits for a value; `nil` when the conveyor is closed and empty.
    func take() -> Element? {
        filled.wait()
        let element = state.withLock { state in state.waiting.isEmpty ? nil : state.waiting.removeFirst() }
        if element != nil { room.signal() } else { filled.signal() }
        return element
    }

    /// Ends it: what waits can still be taken.
    func close() {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        guard isFirst else { return }
        filled.signal()
        room.signal()
    }
}
