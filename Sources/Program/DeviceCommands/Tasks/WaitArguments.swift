import ArgumentParser
internal import CommandSupport
import Errors
import OfflineMaps

/// Whether and how a command waits for its tasks.
struct WaitArguments: ParsableArguments {
    @Flag(help: "Only put the tasks into the queue; packhorse device run does them.") var queue = false
    @OptionGroup var progress: ProgressOptions

    /// Makes tasks, waits for them, and prints them.
    ///
    /// - Throws: the problem of the first task that has one; what `make` throws.
    func run(_ store: MapStore, _ make: () async throws -> [TaskID]) async throws {
        let follower = TaskFollower(store, progress.style.progress)
        let ids = try await make()
        if queue {
            let tasks = try await store.tasks().filter { ids.contains($0.id) }
            return try show(tasks)
        }
        let tasks = try await end(of: ids, in: store, follower)
        try show(tasks)
        try await DeviceRegion.warnOfEmpty(tasks, in: store)
        if let problem = tasks.lazy.compactMap(\.problem).first {
            throw await ShareAdvice.explain(problem, of: tasks, in: store)
        }
    }

    /// Does tasks of the queue until these have ended, or until none continues without a person.
    ///
    /// - Returns: The tasks as they are then.
    func end(of ids: [TaskID], in store: MapStore, _ follower: TaskFollower) async throws -> [StoreTask] {
        guard !ids.isEmpty else { return [] }
        try await store.start()
        do {
            let tasks = try await follower.wait(for: ids)
            await store.stop()
            return tasks
        } catch {
            await store.stop()
            if error is CancellationError {
                Console.note("the tasks stay in the queue; packhorse device run continues them")
            }
            throw error
        }
    }

    private func show(_ tasks: [StoreTask]) throws {
        if progress.json { return Console.result(try JSONText.pretty(tasks.map(TaskView.init))) }
        for task in tasks {
            let (state, reason) = task.state.words
            Console.result("\(task.words): \([state, reason].compactMap { $0 }.joined(separator: ": "))")
        }
    }
}
