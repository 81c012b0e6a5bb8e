/// What is known of the disk, and what follows from it for the pieces of all plans.
///
/// Every change of a part file, a prepared file, an operation or a row goes through these functions, so that the steps
/// in ``TaskPlan`` are always those of the moment.
extension StoreMachine {
    mutating func setPart(_ digest: String, _ size: UInt64?) {
        parts[digest] = size
        refresh(digest)
    }

    mutating func setVerified(_ digest: String, _ isVerified: Bool) {
        if isVerified { verified.insert(digest) } else { verified.remove(digest) }
        refresh(digest)
    }

    mutating func addPrepared(_ file: InstalledFile) {
        preparedFiles[file.id] = file
        refresh(file.id.unit)
    }

    @discardableResult mutating func removePrepared(_ file: FileID) -> InstalledFile? {
        defer { refresh(file.unit) }
        return preparedFiles.removeValue(forKey: file)
    }

    /// Notes that a tile is in the part file of its pack, or that the server has none.
    mutating func setFilled(_ tile: Piece, of task: TaskID) {
        guard let fill = plans[task]?.fills[tile.file.unit] else { return }
        filledTiles[fill.digest, default: []].insert(tile.file.digest)
        refresh(tile.file.digest)
    }

    mutating func forgetFilled(_ digest: String) {
        guard filledTiles.removeValue(forKey: digest) != nil else { return }
        for place in plans.places(of: digest) {
            if let unit = plans[place.task]?.pieces[place.number].file.unit { refresh(unit) }
        }
    }

    /// Notes that something is being removed from the disk, until the event `gone`.
    mutating func setLeaving(_ what: Trash, bytes: UInt64) {
        trash[what] = bytes
        ops.noteRemoval(what)
        if case .file(let file) = what { refresh(file.digest) }
    }

    mutating func gone(_ what: Trash) {
        trash[what] = nil
        if case .file(let file) = what { refresh(file.digest) }
    }

    mutating func setFailed(_ piece: Piece, of task: TaskID, _ cause: FailureCause) {
        plans[task]?.fail(piece.file, cause)
        refresh(piece.file.digest)
    }

    mutating func setPlan(_ plan: Plan, of task: TaskID) {
        plans.set(TaskPlan(plan), of: task)
        for number in plan.pieces.indices { refresh(PlanTable.Place(task: task, number: number)) }
    }

    mutating func refresh(_ digest: String) { for place in plans.places(of: digest) { refresh(place) } }
    mutating func refresh(_ unit: UnitKey) { for place in plans.places(of: unit) { refresh(place) } }

    private mutating func refresh(_ place: PlanTable.Place) {
        guard let state = state(at: place) else { return }
        // The step of a pack depends on its tiles, that of a tile on its pack's file and not on its step.
        guard let filled = plans[place.task]?.set(place.number, state) else { return }
        let pack = PlanTable.Place(task: place.task, number: filled)
        if let state = self.state(at: pack) { _ = plans[place.task]?.set(filled, state) }
    }

    private func state(at place: PlanTable.Place) -> TaskPlan.State? {
        guard let plan = plans[place.task] else { return nil }
        let piece = plan.pieces[place.number]
        let step = step(of: piece, in: plan)
        guard piece.source != .filled else { return TaskPlan.State(step: step) }
        let patch = piece.patch.flatMap { mayUse($0) ? $0 : nil }
        let cost = patch?.size ?? piece.size
        let isThere = step == .done || step == .swap
        let there = isThere || isPrepared(piece) ? cost : min(cost, parts[patch?.digest ?? piece.file.digest] ?? 0)
        return TaskPlan.State(step: step, cost: cost, there: there)
    }

    private func step(of piece: Piece, in plan: TaskPlan) -> PieceStep {
        if plan.failed[piece.file] != nil { return .failed }
        if piece.isTile {
            if isFilled(piece, in: plan) { return .done }
        } else {
            if isDone(piece) { return .done }
            if isPrepared(piece) || isCurrent(piece) || isOutdone(piece) { return .swap }
        }
        if let op = ops.on(piece.file.digest) { return .underWay(isFetch: op.op.work.isFetch) }
        guard let local = localStep(of: piece, in: plan) else { return .fetch }
        return trash[.file(piece.file)] == nil ? local : .wait
    }

    private func isFilled(_ tile: Piece, in plan: TaskPlan) -> Bool {
        guard let fill = plan.fills[tile.file.unit] else { return false }
        if filledTiles[fill.digest]?.contains(tile.file.digest) ?? false { return true }
        return fill.filled.map { isPrepared(plan.pieces[$0]) || isCurrent(plan.pieces[$0]) } ?? false
    }

    /// The next step of a piece whose bytes are on the disk.
    private func localStep(of piece: Piece, in plan: TaskPlan) -> PieceStep? {
        let digest = piece.file.digest
        switch piece.source {
        case .tile: return nil
        case .filled: return plan.fills[piece.file.unit]?.open ?? 0 == 0 ? .prepare : .wait
        case .file:
            if verified.contains(digest) { return .prepare }
            if let patch = usesPatch(piece), parts[patch.digest] == patch.size { return .patch }
            return parts[digest] == piece.size ? .verify : nil
        }
    }

    /// Whether the file of the piece is at its place and is not current.
    func isPrepared(_ piece: Piece) -> Bool {
        preparedFiles[piece.file] != nil || !piece.isTile && rows.units[piece.file]?.state == .previous
    }

    /// Whether the bytes of the piece are those that readers get.
    func isCurrent(_ piece: Piece) -> Bool { !piece.isTile && rows.units[piece.file]?.state == .current }

    /// Whether the piece, or a newer pack in its place, is current and held.
    func isDone(_ piece: Piece) -> Bool {
        (isCurrent(piece) || isOutdone(piece))
            && piece.holder.map { rows.holds.contains(Hold(unit: piece.file.unit, item: $0)) } ?? true
    }

    /// The patch that a piece is made from, as long as it is of use.
    func usesPatch(_ piece: Piece) -> PatchPiece? {
        guard let patch = piece.patch, mayUse(patch), let current = rows.current(piece.file.unit),
            current.sha256 == patch.base
        else { return nil }
        return patch
    }

    private func mayUse(_ patch: PatchPiece) -> Bool { rules.usesPatch(patchFailures[patch.digest] ?? 0) }
}
