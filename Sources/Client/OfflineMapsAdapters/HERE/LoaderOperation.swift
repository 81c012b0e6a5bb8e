internal import OfflineMaps
internal import Synchronization

/// The operation of a map loader, with the tasks of the store that do it.
final class LoaderOperation: Sendable {
    private struct State {
        var isCancelled = false
        var tasks: Set<TaskID> = []
    }
    private let store: MapStore
    private let state = Mutex(State())

    init(_ store: MapStore) { self.store = store }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Ends the operation: its tasks are cancelled, and what it asks the server for.
    func cancel() async {
        let known = state.withLock { state in
            state.isCancelled = true
            return state.tasks
        }
        // A store that cannot be read, and a task that has ended, have nothing to cancel.
        let lists = ((try? await store.tasks()) ?? []).filter { $0.kind == .list && !$0.state.isOver }.map(\.id)
        for task in known.sorted() + lists { try? await store.cancel(task) }
    }

    /// Adds tasks and waits until they have ended.
    ///
    /// - Parameters:
    ///   - progress: Gets the part that is done, 0...1, once for each whole percent.
    ///   - add: Adds the tasks to the queue.
    func run(
        progress: (Float) async -> Void, _ add: () async throws(StoreError) -> [TaskID]
    ) async -> MapLoaderResult {
        // From before the tasks exist, so that no end is missed.
        let events = store.events
        let tasks: [TaskID]
        do throws(StoreError) { tasks = try await add() } catch {
            return isCancelled ? .operationCancelled : .init(error)
        }
        var open = Set(tasks)
        var done: [TaskID: Double] = [:]
        var reported = -1
        if state.withLock({ state in
            state.tasks = open
            return state.isCancelled
        }) {
            await cancel()
        }
        guard !open.isEmpty else { return .success }
        for await event in events {
            guard case .task(let task) = event, open.contains(task.id) else { continue }
            done[task.id] = task.state == .done ? 1 : task.progress.fraction
            if let result = Self.result(task.state) {
                guard result == .success else {
                    await cancel(open)
                    return isCancelled ? .operationCancelled : result
                }
                open.remove(task.id)
            }
            let percent = Int(done.values.reduce(0, +) / Double(tasks.count) * 100)
            if percent > reported {
                reported = percent
                await progress(Float(percent) / 100)
            }
            if open.isEmpty { return .success }
        }
        // The store was closed.
        return .initializationFailed
    }

    private func cancel(_ tasks: Set<TaskID>) async {
        // A task that has ended needs no cancel.
        for task in tasks.sorted() { try? await store.cancel(task) }
    }

    /// What the state of a task means for its operation; `nil` while the task goes on or will go on by itself.
    private static func result(_ state: TaskState) -> MapLoaderResult? {
        switch state {
        case .done: .success
        case .cancelled: .operationCancelled
        case .failed(let cause): MapLoaderResult(cause)
        case .paused(.diskFull), .paused(.quota): .insufficientStorage
        case .waiting, .downloading, .verifying, .installing, .removing, .paused: nil
        }
    }
}

/// The update that an operation found.
final class Found: Sendable {
    private let offer = Mutex<UpdateOffer?>(nil)
    var value: UpdateOffer? { offer.withLock { $0 } }
    func set(_ new: UpdateOffer) { offer.withLock { $0 = new } }
}
