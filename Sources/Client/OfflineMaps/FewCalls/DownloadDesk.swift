/// Knows which loops follow which tasks of a store: the last loop that leaves a task stops it.
///
/// Loops join and leave one after the other, so that one that leaves never stops what another one has just continued.
actor DownloadDesk {
    private var followers: [TaskID: Int] = [:]
    private var last: Task<Void, Never>?

    /// Continues or begins the tasks of items.
    ///
    /// - Returns: The task of each item that is not complete.
    func join(_ items: [Item], in store: MapStore) async throws(StoreError) -> [Item: TaskID] {
        let before = last
        let own = Task { () async -> Result<[Item: TaskID], StoreError> in
            await before?.value
            return await self.begin(items, in: store)
        }
        last = Task { _ = await own.value }
        return try await own.value.get()
    }

    /// Ends the following of tasks; those that nothing else follows are paused, and keep their bytes.
    func leave(_ tasks: Set<TaskID>, in store: MapStore) async {
        let before = last
        let own = Task {
            await before?.value
            await self.end(tasks, in: store)
        }
        last = own
        await own.value
    }

    private func begin(_ items: [Item], in store: MapStore) async -> Result<[Item: TaskID], StoreError> {
        var tasks: [Item: TaskID] = [:]
        do throws(StoreError) {
            for item in items { tasks[item] = try await Self.task(of: item, in: store) }
        } catch {
            return .failure(error)
        }
        for task in Set(tasks.values) { followers[task, default: 0] += 1 }
        return .success(tasks)
    }

    private func end(_ tasks: Set<TaskID>, in store: MapStore) async {
        var left: Set<TaskID> = []
        for task in tasks {
            let count = (followers[task] ?? 1) - 1
            followers[task] = count > 0 ? count : nil
            if count == 0 { left.insert(task) }
        }
        // A store that is closed has stopped its tasks already.
        for task in (try? await store.tasks()) ?? [] where left.contains(task.id) {
            if case .failed = task.state { continue }
            // The task may have ended since.
            if task.priority >= 0 { try? await store.setPriority(-1, of: task.id) }
        }
    }

    /// The task that brings an item: the one in the queue, which goes on, or a new one; `nil` for an item that is complete.
    private static func task(of item: Item, in store: MapStore) async throws(StoreError) -> TaskID? {
        while true {
            let status = try await store.status(of: item)
            guard let task = status?.task, task.kind == .install || task.kind == .update, !task.state.isOver else {
                let isRemoved = status?.task?.kind == .remove
                if let status, status.installed != nil, !status.isOutdated, !status.isDamaged,
                    status.missingFiles.isEmpty, !isRemoved
                {
                    return nil
                }
                return try await store.install([item]).first
            }
            do throws(StoreError) {
                if task.priority < 0 { try await store.setPriority(0, of: task.id) }
                if case .failed = task.state { try await store.retry(task.id) }
                return task.id
            } catch {
                // It has ended since: what it left is looked at again.
                guard error.code == .notFound else { throw error }
            }
        }
    }
}
