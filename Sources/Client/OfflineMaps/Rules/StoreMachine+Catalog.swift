/// Lists and plans.
extension StoreMachine {
    mutating func listed(_ id: OpID, _ answer: ListAnswer) {
        guard let op = endOp(id), let task = rows.tasks[op.task] else { return }
        switch answer {
        case .fault(let fault): return failed(fault, in: Attempt(task: op.task, digest: "list"))
        case .bad(let cause):
            found()
            return fail(op.task, cause)
        case .unchanged: found()
        case .new(let sequence, let sources, let isRewritten):
            found()
            let largest = sources.compactMap { rows.sequences[$0] }.max() ?? 0
            guard rules.acceptsList(sequence, largest, task.allowOlder) else { return fail(op.task, .olderCatalog) }
            for source in sources where rows.sequences[source] != sequence { change(.sequence(source, sequence)) }
            if sequence != rows.catalog || isRewritten {
                change(.catalog(sequence))
                planAgain()
                then(.report(.catalogUpdated))
            }
        }
        errors["list"] = nil
        end(task, as: .done)
    }

    /// With a newer catalog every task gets a new plan, with the newest versions, and what failed begins again.
    private mutating func planAgain() {
        for task in rows.tasks.values.sorted(by: { $0.id < $1.id }) where task.kind.hasPlan {
            forgetFailures(of: task.id)
            stopAll(of: task.id)
            if task.failure != nil {
                var record = task
                (record.failure, record.failureText) = (nil, nil)
                change(.task(record))
            }
            plans.remove(task.id)
        }
    }

    mutating func planned(_ id: OpID, _ answer: PlanAnswer) {
        guard let op = endOp(id), let task = rows.tasks[op.task] else { return }
        switch answer {
        case .fault(let fault): failed(fault, in: Attempt(task: op.task, digest: "plan \(op.task.number)"))
        case .failed(.notInCatalog) where hadPlan.contains(op.task): fail(op.task, .superseded)
        case .failed(let cause): fail(op.task, cause)
        case .plan(let plan):
            if let (cause, limit) = limitExceeded(by: plan, of: task) {
                fail(op.task, cause)
                return then(.report(.limitReached(limit)))
            }
            // Tiles that the plan found in a file that was being removed are not there.
            if rules.isOutdated(plan, op.removed) {
                replanAfter[op.task] = op.removed
                return
            }
            hadPlan.insert(op.task)
            setPlan(plan, of: op.task)
            confirm(plan)
            noteProgress(op.task)
        }
    }
}
