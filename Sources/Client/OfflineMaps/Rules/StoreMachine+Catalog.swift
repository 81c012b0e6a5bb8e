extension StoreMachine {
    mutating func listed(_ id: OpID, _ answer: ListAnswer) {
        guard let op = ops.removeValue(forKey: id), let task = rows.tasks[op.task] else { return }
        switch answer {
        case .fault(let fault): return failed(fault, op.task, nil, "list")
        case .bad(let cause):
            found()
            return fail(op.task, cause)
        case .unchanged: found()
        case .new(let sequence, let sources):
            found()
            let largest = sources.compactMap { rows.sequences[$0] }.max() ?? 0
            if sequence < largest && !task.allowOlder && !wrong.contains(.acceptsOlder) {
                return fail(op.task, .olderCatalog)
            }
            for source in sources where rows.sequences[source] != sequence { change(.sequence(source, sequence)) }
            if sequence != rows.catalog {
                change(.catalog(sequence))
                planAgain()
                then(.report(.catalogUpdated))
            }
        }
        errors["list"] = nil
        end(task, as: .done)
    }

    /// With a newer catalog every task gets a new plan, and what failed begins again.
    private mutating func planAgain() {
        for task in rows.tasks.values.sorted(by: { $0.id < $1.id }) where task.kind.hasPlan {
            forgetFailures(of: task.id)
            stopAll(of: task.id)
            if task.failure != nil {
                var record = task
                record.failure = nil
                change(.task(record))
            }
            plans[task.id] = nil
        }
    }

    mutating func planned(_ id: OpID, _ answer: PlanAnswer) {
        guard let op = ops.removeValue(forKey: id), let task = rows.tasks[op.task] else { return }
        switch answer {
        case .fault(let fault): failed(fault, op.task, nil, "plan \(op.task.number)")
        case .failed(let cause): fail(op.task, cause)
        case .plan(let plan):
            if let (cause, limit) = limitExceeded(by: plan, of: task) {
                fail(op.task, cause)
                return then(.report(.limitReached(limit)))
            }
            plans[op.task] = plan
            noteProgress(op.task)
        }
    }
}
