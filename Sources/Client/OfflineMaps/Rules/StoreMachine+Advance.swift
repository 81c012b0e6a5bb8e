extension StoreMachine {
    /// Does what a task can do without a download: plan, verify, prepare, swap, end.
    mutating func advance(_ task: TaskRecord) {
        guard barrier(task) == nil, unborn[task.id] == nil else { return }
        switch task.kind {
        case .list: failWithoutNetwork(task)
        case .remove: remove(task)
        case .rollback: rollback(task)
        case .adopt: break
        case .install, .update, .load, .refresh: advancePlan(task)
        }
    }

    private mutating func failWithoutNetwork(_ task: TaskRecord) {
        guard task.kind == .list || task.rule.failsWithoutNetwork, !wrong.contains(.ignoresNetwork) else { return }
        if isForcedOffline || network == .none { fail(task.id, .connection) }
    }

    private mutating func advancePlan(_ task: TaskRecord) {
        guard let plan = plans[task.id] else {
            if operation(of: task.id, .plan) != nil { return }
            if task.plansOnline {
                failWithoutNetwork(task)
                guard rows.tasks[task.id]?.failure == nil, networkBarrier(task) == nil else { return }
            }
            return then(.plan(begin(task.id, .plan), task))
        }
        let open = openPieces(of: task.id)
        for piece in open where operation(on: piece.file) == nil { work(on: piece, of: task) }
        if task.together && !wrong.contains(.swapsOneByOne) {
            // All or none: nothing is swapped before everything is prepared, nor after a failure.
            if plan.failed.isEmpty && open.allSatisfy({ isPrepared($0) || isCurrent($0) }) {
                for piece in open { swap(piece) }
            }
        } else {
            for piece in open where isPrepared(piece) || isCurrent(piece) { swap(piece) }
        }
        let left = openPieces(of: task.id)
        guard left.isEmpty || task.together && !plan.failed.isEmpty else {
            if left.contains(where: needsNetwork) { failWithoutNetwork(task) }
            return
        }
        if let cause = plan.failed.min(by: { $0.key < $1.key })?.value {
            fail(task.id, cause)
        } else {
            for item in task.items where plan.onlineTiles > 0 { change(.tiles(item, plan.onlineTiles)) }
            noteProgress(task.id)
            end(task, as: .done)
        }
    }

    /// Begins the next step of a piece that needs no network.
    private mutating func work(on piece: Piece, of task: TaskRecord) {
        if isPrepared(piece) || isCurrent(piece) || trash[.file(piece.file)] != nil { return }
        let digest = piece.file.digest
        switch piece.source {
        case .tile: return
        case .filled:
            let tiles = plans[task.id]?.pieces.filter { $0.isTile && $0.file.unit == piece.file.unit } ?? []
            if tiles.allSatisfy({ isEnded($0, in: task.id) }) {
                then(.prepare(begin(task.id, .prepare(piece)), piece))
            }
        case .file:
            if let patch = usesPatch(piece), parts[patch.digest] == patch.size, !verified.contains(digest) {
                then(.patch(begin(task.id, .patch(piece)), piece))
            } else if verified.contains(digest) || wrong.contains(.trustsBytes) && parts[digest] == piece.size {
                then(.prepare(begin(task.id, .prepare(piece)), piece))
            } else if parts[digest] == piece.size {
                then(.verify(begin(task.id, .verify(piece)), piece))
            }
        }
    }

    /// The pieces that have neither failed nor become current.
    func openPieces(of task: TaskID) -> [Piece] {
        plans[task]?.pieces.filter { !isEnded($0, in: task) } ?? []
    }

    func isEnded(_ piece: Piece, in task: TaskID) -> Bool {
        guard let plan = plans[task] else { return false }
        if plan.failed[piece.file] != nil { return true }
        if !piece.isTile { return isDone(piece) }
        return filledTiles.contains(piece.file)
            || plan.pieces.contains {
                $0.source == .filled && $0.file.unit == piece.file.unit && (isPrepared($0) || isCurrent($0))
            }
    }

    /// Whether the file of the piece is at its place and is not current.
    func isPrepared(_ piece: Piece) -> Bool {
        preparedFiles[piece.file] != nil || !piece.isTile && rows.units[piece.file]?.state == .previous
    }

    /// Whether the bytes of the piece are those that readers get.
    func isCurrent(_ piece: Piece) -> Bool { !piece.isTile && rows.units[piece.file]?.state == .current }

    /// Whether the piece is current and held.
    func isDone(_ piece: Piece) -> Bool {
        isCurrent(piece) && piece.holder.map { rows.holds.contains(Hold(unit: piece.file.unit, item: $0)) } ?? true
    }

    /// Whether a request is needed before the piece can be prepared.
    func needsNetwork(_ piece: Piece) -> Bool {
        if piece.source == .filled || isPrepared(piece) || isCurrent(piece) { return false }
        if verified.contains(piece.file.digest) || operation(on: piece.file).map({ !$1.work.isFetch }) ?? false {
            return false
        }
        if let patch = usesPatch(piece) { return parts[patch.digest] != patch.size }
        return piece.isTile || parts[piece.file.digest] != piece.size
    }
}
