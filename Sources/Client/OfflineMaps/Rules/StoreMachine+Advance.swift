/// What a task can do without a download: plan, verify, prepare, swap, end.
extension StoreMachine {
    mutating func advance(_ task: TaskRecord) {
        guard uncommittedTasks[task.id] == nil, barrier(task) == nil else { return }
        switch task.kind {
        case .list: failWithoutNetwork(task)
        case .remove: remove(task)
        case .rollback: rollback(task)
        case .install, .update, .load, .refresh: advancePlan(task)
        }
    }

    private mutating func failWithoutNetwork(_ task: TaskRecord) {
        guard task.kind == .list || task.rule.failsWithoutNetwork, !hasNetwork else { return }
        fail(task.id, .connection)
    }

    private mutating func advancePlan(_ task: TaskRecord) {
        guard plans[task.id] != nil else { return beginPlan(task) }
        takeLocalSteps(of: task)
        swapPrepared(of: task)
        guard let plan = plans[task.id] else { return }
        let isTogether = task.together || plan.swapsTogether
        guard plan.open == 0 || isTogether && !plan.failed.isEmpty else {
            if plan.network > 0 { failWithoutNetwork(task) }
            return
        }
        if let (file, cause) = plan.failed.min(by: { $0.key < $1.key }) {
            fail(task.id, cause, text: plan.downloads.first { $0.file == file }?.text(of: cause))
        } else {
            dropSuperseded(by: plan, of: task)
            for item in task.items where plan.onlineTiles != rows.tiles[item] ?? 0 {
                change(.tiles(item, plan.onlineTiles))
            }
            noteProgress(task.id)
            end(task, as: .done)
            // Other regions of the same server can use its tiles.
            if plan.onlineTiles > 0 { for id in plans.ids where plans[id]?.onlineTiles ?? 0 > 0 { planAgain(id) } }
        }
    }

    private mutating func beginPlan(_ task: TaskRecord) {
        if ops.reading(task.id) != nil { return }
        if let leaving = replanAfter[task.id] {
            guard leaving.allSatisfy({ trash[$0] == nil }) else { return }
            replanAfter[task.id] = nil
        }
        if task.plansOnline {
            failWithoutNetwork(task)
            guard rows.tasks[task.id]?.failure == nil, networkBarrier(task) == nil else { return }
        }
        then(.plan(begin(task.id, .plan), task))
    }

    /// Begins the next steps that need no network, in the order of the plan.
    private mutating func takeLocalSteps(of task: TaskRecord) {
        guard let plan = plans[task.id], plan.local.count > plan.swaps else { return }
        for (number, download) in plan.local.sorted().map({ ($0, plan.downloads[$0]) }) {
            // The step of the moment: an operation on a file with the same bytes may have begun.
            guard let step = plans[task.id]?.states[number].step, step.isLocal else { continue }
            guard step == .swap || admitsAgain(download, for: task.id) else { continue }
            switch step {
            case .patch: then(.patch(begin(task.id, .patch(download)), download))
            case .verify: then(.verify(begin(task.id, .verify(download)), download))
            case .prepare: then(.prepare(begin(task.id, .prepare(download)), download))
            default: continue
            }
        }
    }

    /// Makes prepared files current: all or none when they belong together, otherwise each as it is ready.
    private mutating func swapPrepared(of task: TaskRecord) {
        guard let plan = plans[task.id], plan.swaps > 0 else { return }
        if rules.swapsTogether(task) || plan.swapsTogether {
            guard plan.failed.isEmpty, plan.swaps == plan.open else { return }
        }
        let prepared = plan.local.sorted().filter { plan.states[$0].step == .swap }.map { plan.downloads[$0] }
        // What came with companions goes back with them: one number says that it came together.
        let hasCompanion = plan.downloads.contains { $0.file.key.isCompanion }
        let order = hasCompanion ? rows.settings.nextOrder : nil
        for download in prepared { swap(download, order: order) }
    }
}
