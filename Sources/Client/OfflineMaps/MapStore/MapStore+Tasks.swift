extension MapStore {
    /// The queue, in the order of its making; tasks that are done or cancelled are not in it.
    public func tasks() async throws(StoreError) -> [StoreTask] { try await worker.tasks() }

    /// Moves a task in the queue: higher is first, below 0 the task is paused.
    ///
    /// - Throws: `not-found` when there is no such task.
    public func setPriority(_ priority: Int32, of id: TaskID) async throws(StoreError) {
        try check(await worker.submit(.setPriority(id, priority)), id)
    }

    /// Ends a task and removes what it has downloaded; no request is sent any more.
    ///
    /// - Throws: `not-found` when there is no such task.
    public func cancel(_ id: TaskID) async throws(StoreError) {
        try check(await worker.submit(.cancel(id)), id)
        await worker.settle()
    }

    /// Lets a task that failed or waits try again at once.
    ///
    /// - Throws: `not-found` when there is no such task.
    public func retry(_ id: TaskID) async throws(StoreError) { try check(await worker.submit(.retry(id)), id) }

    /// How far a task is, whenever that changes; it ends with the task.
    ///
    /// In a process that only reads there is no step between the begin and the end.
    public nonisolated func progress(of id: TaskID) -> ProgressStream {
        let queue = worker.shared.events.subscribe { event in
            if case .task(let task) = event { task.id == id } else { false }
        }
        return ProgressStream(queue) { [worker] in await worker.task(id) }
    }

    private func check(_ answer: Answer, _ id: TaskID) throws(StoreError) {
        if answer == .noSuchTask {
            throw StoreError(.notFound, "There is no task \(id.number): it has ended, or never was.")
        }
    }

    /// Adds a task to the durable queue.
    func add(_ task: TaskRecord) async throws(StoreError) -> TaskID {
        guard case .task(let id) = try await worker.submit(.add(task)) else {
            throw StoreError(.storage, "The task '\(task.kind.rawValue)' was not added to the queue.")
        }
        return id
    }

    /// Waits for the end of a task.
    ///
    /// - Parameter events: Of this store, asked for before the task was added.
    /// - Returns: The last state; `nil` when the store was closed.
    func end(of id: TaskID, in events: StoreEvents) async -> TaskState? {
        for await event in events {
            if case .task(let task) = event, task.id == id, task.state.isFinal { return task.state }
        }
        return nil
    }
}
