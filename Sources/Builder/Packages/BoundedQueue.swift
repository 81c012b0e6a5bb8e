internal import Dispatch
internal import Synchronization

/// A bounded queue that passes values from one thread to another, in order.
final class BoundedQueue<Element: Sendable>: Sendable {
    private struct State {
        var waiting: [Element] = []
        var isClosed = false
    }
    private let state = Mutex(State())
    // Both begin at 0: Dispatch traps if a semaphore is destroyed with a lower value than its first one.
    private let free = DispatchSemaphore(value: 0)
    private let filled = DispatchSemaphore(value: 0)

    /// - Parameter limit: The capacity in values.
    init(limit: Int) { for _ in 0..<limit { free.signal() } }

    /// Waits until the queue has space, then adds a value.
    ///
    /// - Returns: False if the queue was closed.
    func put(_ element: Element) -> Bool {
        free.wait()
        let isTaken = state.withLock { state in
            if !state.isClosed { state.waiting.append(element) }
            return !state.isClosed
        }
        // After the end the free place is passed to the next waiting producer, which must not wait forever.
        if isTaken { filled.signal() } else { free.signal() }
        return isTaken
    }

    /// Waits for a value; `nil` if the queue is closed and empty.
    func next() -> Element? {
        filled.wait()
        let element = state.withLock { state in state.waiting.isEmpty ? nil : state.waiting.removeFirst() }
        if element != nil { free.signal() } else { filled.signal() }
        return element
    }

    /// Closes the queue; values in it can still be read.
    func close() {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        guard isFirst else { return }
        filled.signal()
        free.signal()
    }
}
