internal import Synchronization

/// Passes the events of a store to its subscribers.
final class EventHub: Sendable {
    private struct Subscriber: Sendable { weak var queue: EventQueue? }
    private let subscribers = Mutex<[Subscriber]>([])

    /// Adds a subscriber, who gets all events from now on as long as the queue is kept.
    func subscribe(_ isWanted: @escaping @Sendable (StoreEvent) -> Bool = { _ in true }) -> EventQueue {
        let queue = EventQueue(isWanted)
        subscribers.withLock { all in
            all.removeAll { $0.queue == nil }
            all.append(Subscriber(queue: queue))
        }
        return queue
    }

    /// Gives an event to all subscribers.
    func send(_ event: StoreEvent) {
        for queue in subscribers.withLock({ $0.compactMap(\.queue) }) { queue.add(event) }
    }

    /// No event follows.
    func end() { for queue in subscribers.withLock({ $0.compactMap(\.queue) }) { queue.end() } }
}
