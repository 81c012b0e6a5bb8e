extension StoreMachine {
    /// Lists first, then the highest priority, then the oldest.
    var order: [TaskRecord] {
        rows.tasks.values.sorted { left, right in
            let (a, b) = (left.kind == .list, right.kind == .list)
            if a != b { return a }
            if left.rule.priority != right.rule.priority { return left.rule.priority > right.rule.priority }
            return left.id < right.id
        }
    }

    /// Why a task may do nothing at all; `nil` when it may.
    func barrier(_ task: TaskRecord) -> TaskState? {
        switch run {
        case .suspended: return .paused(.suspended)
        case .stopped: return .paused(.stopped)
        case .running: break
        }
        if let cause = task.failure { return .failed(cause) }
        if task.rule.priority < 0 && !wrong.contains(.ignoresPause) { return .paused(.user) }
        if awaitedList[task.id] != nil { return .waiting(.turn) }
        return nil
    }

    /// Why a task may send no request; `nil` when it may.
    func networkBarrier(_ task: TaskRecord) -> TaskState? {
        let hasNetwork = !isForcedOffline && network != .none
        if !hasNetwork && !wrong.contains(.ignoresNetwork) { return .waiting(.network) }
        let rule = task.rule.network ?? rows.settings.networkRule
        if rule == .none || rule == .notExpensive && network == .expensive { return .paused(.networkRule) }
        if !isOnline && now < probeAt { return .waiting(.network) }
        if let wait = waits[task.id], wait.until > now { return .waiting(wait.reason) }
        return nil
    }

    /// Begins and stops operations until nothing more changes.
    mutating func schedule() {
        if let measureAt, measureAt <= now {
            self.measureAt = nil
            then(.measureDisk)
        }
        blocked = [:]
        for task in order where rows.tasks[task.id] != nil { advance(task) }
        var rounds = 0
        while assignSlots() && rounds < 4 { rounds += 1 }
        if measureAt == nil, blocked.values.contains(where: \.isDisk) { measureAt = now + Self.diskInterval }
    }

    /// Gives the slots to the first tasks of the order and stops the downloads that have none.
    ///
    /// Returns whether a download was stopped, so that its file may be free for another task.
    private mutating func assignSlots() -> Bool {
        var files = Self.fileSlots
        var tiles = Self.tileSlots
        var kept: Set<OpID> = []
        var starts: [(task: TaskRecord, piece: Piece?)] = []
        var claimed: Set<String> = []
        for task in order where unborn[task.id] == nil {
            guard barrier(task) == nil, task.kind.isOnline, networkBarrierOfRunning(task) == nil else { continue }
            if task.kind == .list {
                files -= 1
                if let op = operation(of: task.id, .list) { kept.insert(op) } else { starts.append((task, nil)) }
                continue
            }
            if let op = operation(of: task.id, .plan) { kept.insert(op) }
            for piece in openPieces(of: task.id) where piece.isTile ? tiles > 0 : files > 0 {
                if let (op, work) = operation(on: piece.file) {
                    guard work.task == task.id, case .fetch = work.work else { continue }
                    kept.insert(op)
                } else if needsNetwork(piece), claimed.insert(piece.file.digest).inserted {
                    starts.append((task, piece))
                } else {
                    continue
                }
                if piece.isTile { tiles -= 1 } else { files -= 1 }
            }
        }
        var hasStopped = false
        for (op, work) in ops.sorted(by: { $0.key < $1.key }) where work.usesNetwork(rows) && !kept.contains(op) {
            if wrong.contains(.cancelsLate) && rows.tasks[work.task] == nil { continue }
            stop(op)
            hasStopped = true
        }
        for start in starts where networkBarrier(start.task) == nil {
            // While it is not known whether there is a network, one request finds out.
            if !isOnline && ops.values.contains(where: { $0.usesNetwork(rows) }) && !wrong.contains(.ignoresNetwork) {
                break
            }
            if let piece = start.piece {
                startFetch(piece, for: start.task)
            } else {
                then(.list(begin(start.task.id, .list)))
            }
        }
        return hasStopped
    }

    /// A wait of a task delays its next requests and not those that run.
    private func networkBarrierOfRunning(_ task: TaskRecord) -> TaskState? {
        switch networkBarrier(task) {
        case .waiting(.backoff), .waiting(.server): nil
        case .waiting(.network) where !isForcedOffline && network != .none: nil
        case let other: other
        }
    }

    func operation(of task: TaskID, _ work: Work) -> OpID? {
        ops.first { $0.value.task == task && $0.value.work == work }?.key
    }

    /// The operation that works on the bytes of a file; equal bytes have one part file.
    func operation(on file: FileID) -> (OpID, Op)? {
        ops.first { $0.value.work.piece?.file.digest == file.digest }.map { ($0, $1) }
    }

    private mutating func startFetch(_ piece: Piece, for task: TaskRecord) {
        let digest = usesPatch(piece)?.digest ?? piece.file.digest
        guard trash[.part(digest)] == nil, admits(piece, for: task) else { return }
        let from = wrong.contains(.forgetsPart) ? 0 : parts[digest] ?? 0
        if !piece.isTile { parts[digest] = from }
        let op = begin(task.id, .fetch(piece, digest: digest))
        then(.fetch(op, piece, digest: digest, from: from, bytesPerSecond: task.rule.bytesPerSecond))
    }

    /// The patch that a piece is made from, as long as it is of use.
    func usesPatch(_ piece: Piece) -> PatchPiece? {
        guard let patch = piece.patch, !badPatches.contains(patch.digest),
            let current = rows.current(piece.file.unit), current.file.digest == patch.base
        else { return nil }
        return patch
    }
}

extension StoreMachine.Work {
    var piece: Piece? {
        switch self {
        case .plan, .list: nil
        case .fetch(let piece, digest: _), .verify(let piece), .patch(let piece), .prepare(let piece): piece
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

extension PauseReason {
    var isDisk: Bool { if case .diskFull = self { true } else { false } }
}
