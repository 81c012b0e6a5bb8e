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

    mutating func planned(_ id: OpID, _ answer: PlanAnswer, text: String?) {
        guard let op = endOp(id), let task = rows.tasks[op.task] else { return }
        switch answer {
        case .fault(let fault): failed(fault, in: Attempt(task: op.task, digest: "plan \(op.task.number)"))
        case .failed(.notInCatalog) where hadPlan.contains(op.task): fail(op.task, .superseded, text: text)
        case .failed(let cause): fail(op.task, cause, text: text)
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

/// What comes of the work on files: verify, patch, prepare.
extension StoreMachine {
    mutating func verified(_ id: OpID) {
        guard let op = endOp(id), let download = op.work.download else { return }
        setVerified(download.file.digest, true)
        setPart(download.file.digest, download.size)
        if case .patch = op.work, let patch = download.patch { discardPart(patch.digest) }
    }

    mutating func wrong(_ id: OpID) {
        guard let op = endOp(id), let download = op.work.download else { return }
        if case .patch = op.work, let patch = download.patch {
            isWrong(Attempt(task: op.task, download: download, digest: patch.digest))
        } else {
            isWrong(Attempt(task: op.task, download: download, digest: download.file.digest))
        }
    }

    /// The first time the download starts over, the second time the file is given up.
    mutating func isWrong(_ attempt: Attempt) {
        guard let download = attempt.download else { return }
        let digest = attempt.digest
        if digest == download.patch?.digest && dropsPatch(download) { return }
        discardPart(digest)
        wrongs[digest, default: 0] += 1
        if wrongs[digest, default: 0] > 1 && digest == download.file.digest {
            setFailed(download, of: attempt.task, .badBytes)
        }
    }

    mutating func prepared(_ id: OpID, _ file: InstalledFile) {
        let op = endOp(id)
        guard rows.files[file.id] == nil else { return }
        setPart(file.sha256, nil)
        setVerified(file.sha256, false)
        forgetFilled(file.sha256)
        // It has taken the place of the damaged file with the same name already.
        if rows.faulty[file.id]?.state == .damaged {
            return returned(file.id, as: file, by: op?.work.download)
        }
        addPrepared(file)
        if !plans.wants(file.id) { discardPrepared(file.id) }
    }

    mutating func fileFailed(_ id: OpID, isFull: Bool, text: String?) {
        guard let op = endOp(id), let download = op.work.download else { return }
        if isFull {
            diskFull(op.task)
        } else {
            diskTexts[op.task] = text
            giveUp(Attempt(task: op.task, download: download, digest: download.file.digest), .storage)
        }
    }
}
