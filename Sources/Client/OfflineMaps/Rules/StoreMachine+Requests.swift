extension StoreMachine {
    mutating func opened(_ parts: [String: UInt64], _ prepared: [FileID: UInt64], _ free: UInt64) {
        self.parts = parts
        preparedFiles = prepared.filter { rows.units[$0.key] == nil }
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
            answer = .done
        case .setNetworkRule(let rule):
            editSettings { $0.networkRule = rule }
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
        if wanted.kind == .remove {
            for old in rows.tasks.values.sorted(by: { $0.id < $1.id })
            where old.kind != .remove && !Set(old.items).isDisjoint(with: wanted.items) {
                _ = cancel(old.id)
            }
        }
        let same = rows.tasks.values.filter { task in
            task.kind == wanted.kind && task.items == wanted.items && task.together == wanted.together
                && task.allowOlder == wanted.allowOlder
        }
        if let known = same.map(\.id).min() {
            if rows.tasks[known]?.failure != nil { _ = retry(known) }
            _ = setPriority(wanted.rule.priority, of: known)
            return known
        }
        var record = wanted
        record.id = TaskID(number: rows.settings.nextTask)
        record.failure = nil
        editSettings { $0.nextTask += 1 }
        change(.task(record))
        unborn[record.id] = thisWrite
        return record.id
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
        if !wrong.contains(.cancelsLate) { stopAll(of: id) }
        let pieces = plans[id]?.pieces ?? []
        end(record, as: .cancelled)
        if !wrong.contains(.leavesParts) { discard(pieces) }
        return .done
    }

    mutating func retry(_ id: TaskID) -> Answer {
        guard var record = rows.tasks[id] else { return .noSuchTask }
        forgetFailures(of: id)
        if record.failure != nil {
            record.failure = nil
            change(.task(record))
            plans[id] = nil
        }
        return .done
    }

    /// The task and its files begin with a clean slate.
    mutating func forgetFailures(of id: TaskID) {
        waits[id] = nil
        tries[id] = nil
        fullUntil[id] = nil
        hasAskedAgain.remove(id)
        for piece in plans[id]?.pieces ?? [] {
            errors[piece.file.digest] = nil
            wrongs[piece.file.digest] = nil
        }
    }

    /// Ends a task for good: its row goes with this write.
    mutating func end(_ record: TaskRecord, as state: TaskState) {
        change(.endTask(record.id))
        ending[record.id] = (thisWrite, record, state)
        let id = record.id
        plans[id] = nil
        waits[id] = nil
        tries[id] = nil
        blocked[id] = nil
        fullUntil[id] = nil
        awaitedList[id] = nil
        hasAskedAgain.remove(id)
        // Tasks that wait for this list are planned again with the list that is there.
        for (waiting, list) in awaitedList where list == id {
            awaitedList[waiting] = nil
            plans[waiting] = nil
        }
    }

    mutating func fail(_ id: TaskID, _ cause: FailureCause) {
        guard var record = rows.tasks[id], record.failure == nil else { return }
        stopAll(of: id)
        if record.kind == .list {
            end(record, as: .failed(cause))
            then(.report(.catalogFailed(cause)))
        } else {
            record.failure = cause
            change(.task(record))
        }
    }

    mutating func stopAll(of id: TaskID) {
        for (op, work) in ops.sorted(by: { $0.key < $1.key }) where work.task == id { stop(op) }
    }

    /// Removes the part files and prepared files of pieces that no task wants.
    mutating func discard(_ pieces: [Piece]) {
        for piece in pieces {
            for digest in [piece.file.digest, piece.patch?.digest].compactMap({ $0 }) where !wants(digest) {
                discardPart(digest)
            }
            if !wantsFile(piece.file) { discardPrepared(piece.file) }
        }
    }

    mutating func discardPart(_ digest: String) {
        verified.remove(digest)
        guard let size = parts.removeValue(forKey: digest) else { return }
        // A unit that was being filled begins again without its tiles.
        let units = Set(
            plans.values.flatMap(\.pieces).filter { $0.source == .filled && $0.file.digest == digest }.map(\.file.unit))
        filledTiles = filledTiles.filter { !units.contains($0.unit) }
        trash[.part(digest)] = size
        then(.discard(.part(digest)))
    }

    mutating func discardPrepared(_ file: FileID) {
        guard let bytes = preparedFiles.removeValue(forKey: file) else { return }
        trash[.file(file)] = bytes
        then(.discard(.file(file)))
    }

    func wants(_ digest: String) -> Bool {
        plans.values.contains { $0.pieces.contains { $0.file.digest == digest || $0.patch?.digest == digest } }
    }

    func wantsFile(_ file: FileID) -> Bool { plans.values.contains { $0.pieces.contains { $0.file == file } } }

    /// Removes what lies on disk for no task, once all plans are known.
    mutating func sweep() {
        guard rows.tasks.values.allSatisfy({ plans[$0.id] != nil || !$0.kind.hasPlan }) else { return }
        if !wrong.contains(.leavesParts) {
            for digest in parts.keys.sorted() where !wants(digest) { discardPart(digest) }
        }
        for file in preparedFiles.keys.sorted() where !wantsFile(file) { discardPrepared(file) }
    }
}

extension TaskKind {
    /// Whether the task consists of pieces.
    var hasPlan: Bool {
        switch self {
        case .install, .update, .load, .refresh: true
        case .list, .adopt, .remove, .rollback: false
        }
    }

    /// Whether the task needs the network.
    var isOnline: Bool { hasPlan || self == .list }
}
