/// What happens in a store, from the moment at which the sequence was asked for; it ends with the store.
///
/// Up to 256 events wait for a slow reader. When there are more, events of the same item are merged. Each sequence has
/// one reader; ask the store again for a second one.
public struct StoreEvents: AsyncSequence, Sendable {
    private let queue: EventQueue

    init(_ queue: EventQueue) { self.queue = queue }

    /// Reads the events.
    public func makeAsyncIterator() -> Iterator { Iterator(queue: queue) }

    /// Reads the events, one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let queue: EventQueue

        /// The next event; `nil` after the end.
        public func next() async -> StoreEvent? { await queue.next() }
    }
}

/// How far a task is, whenever that changes; it ends when the task is done, cancelled or failed.
///
/// The first element is the progress of the moment. Each sequence has one reader.
public struct ProgressStream: AsyncSequence, Sendable {
    private let queue: EventQueue
    private let now: @Sendable () async -> StoreTask?

    /// - Parameter now: The task as it is; `nil` when it has ended.
    init(_ queue: EventQueue, now: @escaping @Sendable () async -> StoreTask?) {
        (self.queue, self.now) = (queue, now)
    }

    /// Reads the progress.
    public func makeAsyncIterator() -> Iterator { Iterator(queue: queue, now: now) }

    /// Reads the progress, one step after the other.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let queue: EventQueue
        fileprivate let now: @Sendable () async -> StoreTask?
        private var hasBegun = false
        private var hasEnded = false

        fileprivate init(queue: EventQueue, now: @escaping @Sendable () async -> StoreTask?) {
            (self.queue, self.now) = (queue, now)
        }

        /// The next progress; `nil` after the end.
        public mutating func next() async -> TaskProgress? {
            guard !hasEnded else { return nil }
            if !hasBegun {
                hasBegun = true
                guard let task = await now() else {
                    hasEnded = true
                    return nil
                }
                hasEnded = task.state.isFinal
                return task.progress
            }
            while let event = await queue.next() {
                guard case .task(let task) = event else { continue }
                hasEnded = task.state.isFinal
                return task.progress
            }
            hasEnded = true
            return nil
        }
    }
}

extension TaskState {
    /// Whether nothing more happens by itself.
    var isFinal: Bool { if case .failed = self { true } else { isOver } }
}
