extension StoreMachine {
    /// Where a task is, from what is under way and what stands in its way.
    func state(of task: TaskRecord) -> TaskState {
        if let barrier = barrier(task) { return barrier }
        let works = ops.works(of: task.id)
        if works.contains(where: { $0.isFetch || $0 == .list }) { return .downloading }
        if works.contains(where: { if case .prepare = $0 { true } else { false } }) { return .installing }
        if works.contains(where: { $0.download != nil }) { return .verifying }
        if let reason = blocked[task.id] { return .paused(reason) }
        let plan = plans[task.id]
        let needsNetwork = task.kind == .list || plan.map { $0.network > 0 } ?? task.plansOnline
        if needsNetwork, let barrier = networkBarrier(task) {
            return barrier
        }
        return .waiting(.turn)
    }

    /// The task with the state and progress of the moment.
    func view(_ task: TaskRecord) -> StoreTask {
        StoreTask(
            id: task.id, kind: task.kind, items: task.items, priority: task.rule.priority, state: state(of: task),
            progress: progress[task.id] ?? keptProgress(of: task.id), failureText: task.failureText)
    }

    /// How far a task without a plan is, by its part files.
    private func keptProgress(of id: TaskID) -> TaskProgress {
        guard let work = works[id] else { return TaskProgress() }
        return work.progress(parts: parts, installed: Set(rows.files.keys.map(\.digest)))
    }

    /// A task whose end is being written: as it was reported last, with the progress of the moment.
    ///
    /// Between two reports the progress goes on.
    func lastView(of record: TaskRecord) -> StoreTask {
        var task = reported[record.id] ?? view(record)
        task.progress = progress[record.id] ?? task.progress
        return task
    }

    /// Reports each task whose state or whole percent has changed.
    mutating func report() {
        for id in order() where uncommittedTasks[id] == nil {
            guard let task = rows.tasks[id] else { continue }
            noteProgress(id)
            let new = view(task)
            let old = reported[task.id]
            if old?.state == new.state && old?.priority == new.priority
                && Int((old?.progress.fraction ?? 0) * 100) == Int(new.progress.fraction * 100)
            {
                continue
            }
            if case .paused(.quota(let needed, let allowed)) = new.state, !(old?.state.isQuota ?? false) {
                then(.report(.limitReached(.quota(needed: needed, allowed: allowed))))
            }
            reported[task.id] = new
            if task.failure != nil { then(.report(.task(new))) } else { atOnce(.report(.task(new))) }
        }
        for (id, end) in ending.sorted(by: { $0.key < $1.key }) where reported[id] != nil && end.end == .done {
            // Until the transaction is acknowledged the task is installing or removing.
            let state: TaskState = end.record.kind == .remove ? .removing : .installing
            guard reported[id]?.state != state, end.record.kind != .list else { continue }
            reported[id]?.state = state
            if let progress = progress[id] { reported[id]?.progress = progress }
            if let task = reported[id] { atOnce(.report(.task(task))) }
        }
    }

    /// The write that ends a task is durable.
    mutating func ended(_ id: TaskID) {
        guard let end = ending.removeValue(forKey: id) else { return }
        var last = reported.removeValue(forKey: id) ?? view(end.record)
        (last.state, last.failureText) = (end.end, end.record.failureText)
        last.progress = progress.removeValue(forKey: id) ?? last.progress
        if end.end == .done { last.progress.fraction = 1 }
        atOnce(.report(.task(last)))
    }

    mutating func transferred(_ bytes: UInt64, by task: TaskID) {
        progress[task, default: TaskProgress()].transferred += bytes
    }

    /// Brings the progress of a task up to date; what was reported never falls.
    mutating func noteProgress(_ id: TaskID) {
        guard var new = plans[id]?.progress else { return }
        let old = progress[id] ?? keptProgress(of: id)
        new.transferred = old.transferred
        progress[id] = rules.progress(new, old)
    }
}

extension TaskState {
    fileprivate var isQuota: Bool { if case .paused(.quota) = self { true } else { false } }
}

extension TaskProgress {
    /// This progress, where it is further than an earlier one.
    func raised(to old: TaskProgress) -> TaskProgress {
        var new = self
        new.resources = resources.raised(to: old.resources)
        new.tiles = tiles.raised(to: old.tiles)
        new.packs = packs.raised(to: old.packs)
        new.fraction = max(fraction, old.fraction)
        return new
    }
}

extension Counts {
    func raised(to old: Counts) -> Counts {
        var new = self
        new.completed = max(completed, old.completed)
        new.bytes = max(bytes, old.bytes)
        new.required = max(required, new.completed)
        return new
    }
}
