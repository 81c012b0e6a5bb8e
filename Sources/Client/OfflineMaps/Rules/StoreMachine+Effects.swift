/// Writes, effects, and the operations that they begin.
extension StoreMachine {
    /// Changes a row; the changes of one event are one write.
    mutating func change(_ change: Change) {
        rows.apply(change)
        changes.append(change)
        switch change {
        case .task, .endTask: turns = nil
        case .file(let file): refresh(file.id.key)
        case .removeFile(let file): refresh(file.key)
        case .hold(let hold), .dropHold(let hold): refresh(hold.key)
        default: break
        }
    }

    /// The number of the write that will hold what ``change(_:)`` has collected.
    var thisWrite: WriteID { WriteID(number: nextWrite) }

    /// An effect that waits for the writes before it.
    mutating func then(_ effect: Effect) { later.append(effect) }

    /// An effect that waits for nothing.
    mutating func atOnce(_ effect: Effect) { immediate.append(effect) }

    mutating func begin(_ task: TaskID, _ work: Work) -> OpID {
        let op = OpID(number: nextOp)
        nextOp += 1
        ops.insert(Op(task: task, work: work, removed: work == .plan ? Set(trash.keys) : []), as: op)
        if let digest = work.download?.file.digest { refresh(digest) }
        return op
    }

    /// Takes an operation that has ended out of the table; `nil` for one that was stopped.
    mutating func endOp(_ id: OpID) -> Op? {
        let op = ops.remove(id)
        if let digest = op?.work.download?.file.digest { refresh(digest) }
        return op
    }

    /// Ends an operation at once; one that has not been emitted is forgotten.
    mutating func stop(_ op: OpID) {
        _ = endOp(op)
        var isEmitted = true
        if let index = immediate.firstIndex(where: { $0.begins == op }) {
            immediate.remove(at: index)
            isEmitted = false
        }
        if let index = later.firstIndex(where: { $0.begins == op }) {
            later.remove(at: index)
            isEmitted = false
        }
        for index in held.indices {
            if let place = held[index].effects.firstIndex(where: { $0.begins == op }) {
                held[index].effects.remove(at: place)
                isEmitted = false
            }
        }
        if isEmitted { atOnce(.stop(op)) }
    }

    mutating func stopAll(of id: TaskID) { for op in ops.of(id) { stop(op) } }

    mutating func written(_ id: WriteID) {
        guard let first = held.first, first.id == id else { return }
        held.removeFirst()
        immediate += first.effects
        for (task, end) in ending.sorted(by: { $0.key < $1.key }) where end.write == id { ended(task) }
        for (task, write) in uncommittedTasks where write == id { uncommittedTasks[task] = nil }
    }

    mutating func finish() -> [Effect] {
        if !changes.isEmpty {
            let id = thisWrite
            nextWrite += 1
            immediate.append(.write(id, changes))
            held.append((id, later))
            changes = []
        } else if held.isEmpty {
            immediate += later
        } else {
            held[held.count - 1].effects += later
        }
        later = []
        defer { immediate = [] }
        let stands = run != .running && ops.isEmpty && held.isEmpty && trash.isEmpty
        if stands && !isQuiet { immediate.append(.quiet) }
        isQuiet = stands
        return immediate
    }

    mutating func setAlarm() {
        guard run.isOn, let next = nextAlarm, next != lastAlarm else { return }
        lastAlarm = next
        atOnce(.alarm(next))
    }

    /// When a waiting time ends next.
    private var nextAlarm: Instant? {
        var times = Array(fullUntil.values)
        for waits in [backoffs, serverWaits] {
            for (task, wait) in waits where rows.tasks[task] != nil { times.append(wait.until) }
        }
        if !isOnline { times.append(probeAt) }
        if let measureAt { times.append(measureAt) }
        return times.filter { $0 > now }.min()
    }
}

extension StoreMachine.Work {
    var download: DownloadItem? {
        switch self {
        case .plan, .list: nil
        case .fetch(let download, digest: _), .verify(let download), .patch(let download), .prepare(let download):
            download
        }
    }

    var isFetch: Bool { if case .fetch = self { true } else { false } }
}

extension StoreMachine.Op {
    func usesNetwork(_ rows: StoreRows) -> Bool {
        switch work {
        case .list, .fetch: true
        case .plan: rows.tasks[task]?.plansOnline ?? false
        default: false
        }
    }
}
