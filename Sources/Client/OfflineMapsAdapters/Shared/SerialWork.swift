internal import Synchronization

/// Does work in the order in which it was added, one download at a time.
final class SerialWork: Sendable {
    private let last = Mutex<Task<Void, Never>?>(nil)

    /// Adds work; its end can be awaited.
    @discardableResult
    func add(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        last.withLock { last in
            let before = last
            let task = Task {
                await before?.value
                await body()
            }
            last = task
            return task
        }
    }

    /// Waits until all work that was added is done.
    func finish() async { await last.withLock { $0 }?.value }
}
