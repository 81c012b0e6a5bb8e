internal import CommandSupport
import Errors
import Foundation
import OfflineMaps
import Synchronization
internal import TextFormats

/// Waits for tasks and shows their progress.
struct TaskFollower: Sendable {
    /// Without a network for this time, the command ends; its tasks stay in the queue.
    static let patience = Duration.seconds(20)
    /// The longest time between the end of a task and its report, which may come from another process.
    static let reportTime = Duration.seconds(2)

    private let store: MapStore
    private let meter: ProgressMeter
    /// The last report of each task that has ended.
    private let ended = EndedTasks()
    private let listening: Task<Void, Never>

    /// Begins to listen; make it before the tasks, so that no end is missed.
    init(_ store: MapStore, _ progress: ProgressOptions.Style = .auto) {
        self.store = store
        meter = ProgressMeter(progress)
        let (events, ended) = (store.events, ended)
        listening = Task {
            for await event in events {
                if case .task(let task) = event, task.state.isOver { ended.add(task) }
            }
        }
    }

    /// Waits until the tasks have ended, or until none continues without a person.
    ///
    /// - Returns: The tasks as they are then, in the order of `ids`.
    /// - Throws: ``CLIError`` 69 when there is no network; `StoreError`; `CancellationError`.
    func wait(for ids: [TaskID]) async throws -> [StoreTask] {
        defer {
            listening.cancel()
            meter.end()
        }
        var last: [TaskID: StoreTask] = [:]
        var goneSince: ContinuousClock.Instant?
        var offlineSince: ContinuousClock.Instant?
        while true {
            try Task.checkCancellation()
            let queue = try await store.tasks().filter { ids.contains($0.id) }
            for task in queue { last[task.id] = task }
            for (id, task) in ended.all where ids.contains(id) { last[id] = task }
            let isQueued = Set(queue.map(\.id))
            let open = ids.filter { id in
                guard let task = last[id] else { return false }
                return isQueued.contains(id) && !task.state.isOver && !task.needsPerson
            }
            let now = ContinuousClock.now
            // A task that has left the queue: the report of its end is under way.
            let isGone = ids.contains { !isQueued.contains($0) && ended.all[$0] == nil }
            goneSince = isGone ? goneSince ?? now : nil
            if open.isEmpty, goneSince.map({ now - $0 > Self.reportTime }) ?? true { break }
            show(open.compactMap { last[$0] })
            let isOffline = !open.isEmpty && open.allSatisfy { last[$0]?.state == .waiting(.network) }
            offlineSince = isOffline ? offlineSince ?? now : nil
            if let offlineSince, now - offlineSince > Self.patience {
                throw CLIError(
                    .unavailable, "there is no network; the tasks stay in the queue",
                    hint: "packhorse device run continues them")
            }
            try await Task.sleep(for: .milliseconds(open.isEmpty ? 10 : 100))
        }
        return ids.compactMap { last[$0] }.map { task in
            // A task that left the queue has ended, also when its event did not arrive.
            var task = task
            if !task.state.isOver, !task.needsPerson { task.state = .done }
            return task
        }
    }

    private func show(_ tasks: [StoreTask]) {
        guard let first = tasks.first(where: { $0.state == .downloading }) ?? tasks.first else { return }
        let (state, reason) = first.state.words
        let more = tasks.count > 1 ? ["\(Units.count(tasks.count - 1, of: "more task"))"] : []
        meter.show(
            ProgressBar(
                first.words, fraction: first.progress.fraction,
                facts: [
                    [state, reason].compactMap { $0 }.joined(separator: ": "),
                    "\(Units.bytes(first.progress.transferred)) received",
                ] + more),
            json: {
                // A view of numbers and texts can always be encoded.
                try? JSONText.line(TaskView(first))
            })
    }
}

/// The tasks whose end was reported.
private final class EndedTasks: Sendable {
    private let tasks = Mutex<[TaskID: StoreTask]>([:])

    var all: [TaskID: StoreTask] { tasks.withLock { $0 } }

    func add(_ task: StoreTask) { tasks.withLock { $0[task.id] = task } }
}
