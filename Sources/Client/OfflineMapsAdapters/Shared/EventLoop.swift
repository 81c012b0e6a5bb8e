internal import OfflineMaps
internal import Synchronization

/// Gives the events of a store to its owner, one after the other, until the owner is gone.
final class EventLoop: Sendable {
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Begins with the events from now on; `body` holds its owner weakly.
    func run(_ store: MapStore, _ body: @escaping @Sendable (StoreEvent) async -> Void) {
        let events = store.events
        let new = Task { for await event in events { await body(event) } }
        task.withLock { $0 = new }
    }

    /// Waits until a task has ended, or stands and does not go on by itself.
    ///
    /// - Parameter events: Of the store, asked for before the task was added.
    static func end(of id: TaskID, in events: StoreEvents) async {
        for await event in events {
            guard case .task(let task) = event, task.id == id else { continue }
            switch task.state {
            case .done, .cancelled, .failed, .paused: return
            case .waiting, .downloading, .verifying, .installing, .removing: continue
            }
        }
    }

    deinit { task.withLock { $0?.cancel() } }
}
