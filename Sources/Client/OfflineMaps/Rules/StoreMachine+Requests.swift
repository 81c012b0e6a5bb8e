extension StoreMachine {
    mutating func opened(parts: [String: UInt64], prepared: [InstalledFile], free: UInt64) {
        self.parts = parts
        for file in prepared where rows.files[file.id] == nil { preparedFiles[file.id] = file }
        self.free = free
        isOpen = true
    }

    mutating func asked(_ id: RequestID, _ request: Request) {
        let answer: Answer
        switch request {
        case .add(let record): answer = .task(add(record))
        case .setPriority(let task, let priority): answer = setPriority(priority, of: task)
        case .cancel(let task): answer = cancel(task)
        case .retry(let task): answer = retry(task)
        case .setQuota(let quota):
            editSettings { $0.quota = quota }
            dropAllPrevious()
            if let start = quota.evictionStart, used + inFlight > start { evict(used + inFlight - start) }
            answer = .done
        case .setNetworkRule(let rule):
            editSettings { $0.networkRule = rule }
            answer = .done
        case .adopt(let files): answer = adopt(files)
        case .noteDamage(let file):
            damaged(file)
            answer = .done
        }
        change(.answered(id, answer))
        then(.answer(id, answer))
    }

    private mutating func editSettings(_ edit: (inout StoreSettings) -> Void) {
        var settings = rows.settings
        edit(&settings)
        change(.settings(settings))
    }

    /// Adds a task, or finds the one that does the same already.
    mutating func add(_ wanted: TaskRecord) -> TaskID {
        if wanted.kind == .remove || wanted.kind == .rollback { cancelAll(of: wanted.items, but: wanted.kind) }
        let same = rows.tasks.values.filter { task in
            task.kind == wanted.kind && task.items == wanted.items && task.together == wanted.together
                && task.allowOlder == wanted.allowOlder && task.viewed == wanted.viewed
                && task.companions == wanted.companions
        }
        if let known = same.map(\.id).min() {
            if rows.tasks[known]?.failure != nil { _ = retry(known) }
            _ = setPriority(wanted.rule.priority, of: known)
            return known
        }
        var record = wanted
        record.id = TaskID(number: rows.settings.nextTask)
        (record.failure, record.failureText) = (nil, nil)
        editSettings { $0.nextTask += 1 }
        change(.task(record))
        uncommittedTasks[record.id] = thisWrite
        return record.id
    }

    /// Cancels pending tasks of items that a later call would be undone by.
    mutating func cancelAll(of items: [Item], but kind: TaskKind?) {
        for old in rows.tasks.values.sorted(by: { $0.id < $1.id })
        where old.kind != kind && !Set(old.items).isDisjoint(with: items) {
            _ = cancel(old.id)
        }
    }

    mutating func setPriority(_ priority: Int32, of id: TaskID) -> Answer {
        guard var record = rows.tasks[id] else { return .noSuchTask }
        if record.rule.priority != priority {
            record.rule.priority = priority
            change(.task(record))
        }
        return .done
    }

    /// Stops the task's requests in this step; what it has on disk is removed when the end of the task is durable.
    mutating func cancel(_ id: TaskID) -> Answer {
        guard let record = rows.tasks[id] else { return .noSuchTask }
        stopAll(of: id)
        let downloads = plans[id]?.downloads ?? []
        let parts = plans[id] == nil ? works[id]?.digests ?? [] : []
        end(record, as: .cancelled)
        discard(downloads)
        for digest in parts.sorted()
        where !plans.wants(digest) && !works.values.contains(where: { $0.digests.contains(digest) }) {
            discardPart(digest)
        }
        return .done
    }

    mutating func retry(_ id: TaskID) -> Answer {
        guard var record = rows.tasks[id] else { return .noSuchTask }
        forgetFailures(of: id)
        if record.failure != nil {
            (record.failure, record.failureText) = (nil, nil)
            change(.task(record))
            plans.remove(id)
        }
        return .done
    }

    /// The task and its files reset their attempt counters.
    mutating func forgetFailures(of id: TaskID) {
        backoffs[id] = nil
        serverWaits[id] = nil
        tries[id] = nil
        fullUntil[id] = nil
        diskTexts[id] = nil
        hasAskedAgain.remove(id)
        for download in plans[id]?.downloads ?? [] {
            errors[download.file.digest] = nil
            wrongs[download.file.digest] = nil
        }
    }

    /// Ends a task for good: its row goes with this write.
    mutating func end(_ record: TaskRecord, as state: TaskState) {
        change(.endTask(record.id))
        ending[record.id] = Ending(write: thisWrite, record: record, end: state)
        let id = record.id
        plans.remove(id)
        works[id] = nil
        hadPlan.remove(id)
        replanAfter[id] = nil
        backoffs[id] = nil
        serverWaits[id] = nil
        tries[id] = nil
        askedAt[id] = nil
        blocked[id] = nil
        fullUntil[id] = nil
        diskTexts[id] = nil
        awaitedList[id] = nil
        hasAskedAgain.remove(id)
        // Tasks that wait for this list are planned again with the list that is there.
        for (waiting, list) in awaitedList where list == id {
            awaitedList[waiting] = nil
            plans.remove(waiting)
        }
    }

    /// - Parameter text: What is wrong and what to do, where more is known than the cause.
    mutating func fail(_ id: TaskID, _ cause: FailureCause, text: String? = nil) {
        guard var record = rows.tasks[id], record.failure == nil else { return }
        stopAll(of: id)
        if record.kind == .list {
            record.failureText = text
            end(record, as: .failed(cause))
            then(.report(.catalogFailed(cause)))
        } else {
            record.failure = cause
            record.failureText = text ?? (cause == .storage ? diskTexts[id] : nil)
            change(.task(record))
        }
    }

    /// Removes the part files and prepared files of downloads that no task wants.
    mutating func discard(_ downloads: [DownloadItem]) {
        for download in downloads {
            for digest in download.digests where !plans.wants(digest) { discardPart(digest) }
            if !plans.wants(download.file) { discardPrepared(download.file) }
        }
    }

    mutating func discardPart(_ digest: String) {
        setVerified(digest, false)
        // A pack that was being filled begins again without its tiles.
        forgetFilled(digest)
        guard let size = parts[digest] else { return }
        setPart(digest, nil)
        setLeaving(.part(digest), bytes: size)
        then(.discard(.part(digest)))
    }

    mutating func discardPrepared(_ file: FileID) {
        guard let prepared = removePrepared(file) else { return }
        setLeaving(.file(file), bytes: prepared.bytes)
        then(.discard(.file(file), path: prepared.path))
    }

    /// Whether a task needs the part file of a digest.
    func wants(_ digest: String) -> Bool { plans.wants(digest) }

    /// Removes what lies on disk for no task, once all plans are known.
    mutating func sweep() {
        guard rows.tasks.values.allSatisfy({ plans[$0.id] != nil || !$0.kind.hasPlan }) else { return }
        for digest in parts.keys.filter({ !plans.wants($0) }).sorted() { discardPart(digest) }
        for file in preparedFiles.keys.filter({ !plans.wants($0) }).sorted() { discardPrepared(file) }
    }
}

extension TaskKind {
    /// Whether the task consists of downloads.
    var hasPlan: Bool {
        switch self {
        case .install, .update, .load, .refresh: true
        case .list, .remove, .rollback: false
        }
    }

    /// Whether the task needs the network.
    var isOnline: Bool { hasPlan || self == .list }
}
