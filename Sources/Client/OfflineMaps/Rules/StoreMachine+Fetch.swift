extension StoreMachine {
    mutating func received(_ id: OpID, size: UInt64) {
        guard let op = ops[id], case .fetch(let piece, let digest) = op.work else { return }
        found()
        if piece.isTile { return fill(size, piece, op.task) }
        let before = parts[digest] ?? 0
        if size > before {
            free -= min(free, size - before)
            transferred(size - before, by: op.task)
            errors[digest] = nil
            tries[op.task] = nil
        }
        parts[digest] = size
    }

    /// The unit that is being filled has a tile more, of this size.
    private mutating func fill(_ size: UInt64, _ tile: Piece, _ task: TaskID) {
        let unit = plans[task]?.pieces.first { $0.source == .filled && $0.file.unit == tile.file.unit }
        if let unit { parts[unit.file.digest, default: 0] += size }
        filledTiles.insert(tile.file)
        free -= min(free, size)
        transferred(size, by: task)
    }

    mutating func fetched(_ id: OpID) {
        guard let op = ops.removeValue(forKey: id), case .fetch(let piece, let digest) = op.work else { return }
        found()
        errors[digest] = nil
        tries[op.task] = nil
        if piece.isTile {
            // Without `received` there was no tile: the server has none at this place.
            filledTiles.insert(piece.file)
            return
        }
        let expected = digest == piece.file.digest ? piece.size : piece.patch?.size
        if parts[digest] != expected { isWrong(piece, digest, in: op.task) }
    }

    mutating func fetchFailed(_ id: OpID, _ fault: FetchFault) {
        guard let op = ops.removeValue(forKey: id), case .fetch(let piece, let digest) = op.work else { return }
        failed(fault, op.task, piece, digest)
    }

    /// What follows from a fault; `piece` is `nil` for a list and a plan.
    mutating func failed(_ fault: FetchFault, _ task: TaskID, _ piece: Piece?, _ digest: String) {
        switch fault {
        case .noConnection, .portal: lost(task)
        case .broken: backOff(task)
        case .diskFull: diskFull(task)
        case .refused(let cause): giveUp(task, piece, cause)
        case .status(let status, let retryAfter):
            found()
            answered(status, retryAfter, task, piece, digest)
        }
    }

    private mutating func answered(
        _ status: Int, _ retryAfter: Int64?, _ task: TaskID, _ piece: Piece?, _ digest: String
    ) {
        switch status {
        case 404, 410: notFound(task, piece)
        case 401, 403: refuse(task, piece, .notAllowed)
        case 402: refuse(task, piece, .limitExceeded)
        case 406, 413: giveUp(task, piece, .tooBig)
        case 429, 503:
            let wait = retryAfter ?? random.backoff(tries: tries[task, default: 0])
            tries[task, default: 0] += 1
            let delay = max(1_000, min(wait, Self.longestRetryAfter))
            postpone(task, delay, .server(.milliseconds(delay)))
        case 500...599:
            let before = errors[digest]
            let count = before?.status == status ? (before?.count ?? 0) + 1 : 1
            errors[digest] = Errors(status: status, count: count)
            if count >= Self.patience { giveUp(task, piece, .serverError) } else { backOff(task) }
        default: giveUp(task, piece, .notFound)
        }
    }

    mutating func backOff(_ task: TaskID) {
        let delay = random.backoff(tries: tries[task, default: 0])
        tries[task, default: 0] += 1
        postpone(task, delay, .backoff(.milliseconds(delay)))
    }

    /// The longer of two waiting times counts.
    private mutating func postpone(_ task: TaskID, _ delay: Int64, _ reason: WaitReason) {
        if let wait = waits[task], wait.until >= now + delay { return }
        if wrong.contains(.ignoresRetryAfter), case .server = reason { return }
        waits[task] = Wait(until: now + delay, reason: reason)
    }

    /// Anything that goes wrong with a patch ends the use of the patch and not the task.
    private mutating func dropsPatch(_ piece: Piece?) -> Bool {
        guard let piece, let patch = usesPatch(piece), !wrong.contains(.insistsOnPatch) else { return false }
        badPatches.insert(patch.digest)
        discardPart(patch.digest)
        return true
    }

    private mutating func giveUp(_ task: TaskID, _ piece: Piece?, _ cause: FailureCause) {
        if dropsPatch(piece) { return }
        guard let piece else { return fail(task, cause) }
        plans[task]?.failed[piece.file] = cause
    }

    /// The server refuses this device: further requests of the task would be refused too.
    private mutating func refuse(_ task: TaskID, _ piece: Piece?, _ cause: FailureCause) {
        if !dropsPatch(piece) { fail(task, cause) }
    }

    /// The list may have moved on: it is read once more, and the task is planned again.
    private mutating func notFound(_ task: TaskID, _ piece: Piece?) {
        if dropsPatch(piece) { return }
        guard let piece, !piece.isTile, !hasAskedAgain.contains(task) else { return giveUp(task, piece, .notFound) }
        hasAskedAgain.insert(task)
        stopAll(of: task)
        let list = add(TaskRecord(id: task, kind: .list))
        awaitedList[task] = list
    }

    /// There is no connection: nothing is counted, and one request after a while finds out.
    private mutating func lost(_ task: TaskID) {
        if isOnline {
            isOnline = false
            probes = 0
            then(.report(.connectionLost))
        }
        probeAt = now + random.backoff(tries: probes)
        probes += 1
        if rows.tasks[task]?.kind == .list || rows.tasks[task]?.rule.failsWithoutNetwork == true {
            fail(task, .connection)
        }
    }

    mutating func found() {
        guard !isOnline else { return }
        isOnline = true
        endBackoff()
        then(.report(.connectionFound))
    }

    private mutating func endBackoff() {
        for (task, wait) in waits { if case .backoff = wait.reason { waits[task] = nil } }
    }

    mutating func setNetwork(_ state: NetworkState, forced: Bool) {
        let had = network != .none && !isForcedOffline
        network = state
        isForcedOffline = forced
        let has = network != .none && !isForcedOffline
        guard had != has else { return }
        if has {
            endBackoff()
            found()
        } else if isOnline {
            isOnline = false
            probeAt = now
            then(.report(.connectionLost))
        }
    }

    private mutating func diskFull(_ task: TaskID) {
        free = 0
        fullUntil[task] = now + Self.diskInterval
        then(.measureDisk)
    }

    // MARK: Verify, patch, prepare

    mutating func verified(_ id: OpID) {
        guard let op = ops.removeValue(forKey: id), let piece = op.work.piece else { return }
        verified.insert(piece.file.digest)
        parts[piece.file.digest] = piece.size
        if case .patch = op.work, let patch = piece.patch { discardPart(patch.digest) }
    }

    mutating func wrong(_ id: OpID) {
        guard let op = ops.removeValue(forKey: id), let piece = op.work.piece else { return }
        if case .patch = op.work, let patch = piece.patch {
            isWrong(piece, patch.digest, in: op.task)
        } else {
            isWrong(piece, piece.file.digest, in: op.task)
        }
    }

    /// The first time the download starts over, the second time the file is given up.
    private mutating func isWrong(_ piece: Piece, _ digest: String, in task: TaskID) {
        if digest == piece.patch?.digest && dropsPatch(piece) { return }
        discardPart(digest)
        wrongs[digest, default: 0] += 1
        if wrongs[digest, default: 0] > 1 && digest == piece.file.digest {
            plans[task]?.failed[piece.file] = .badBytes
        }
    }

    mutating func prepared(_ id: OpID, _ file: FileID, _ bytes: UInt64) {
        ops[id] = nil
        guard rows.units[file] == nil else { return }
        parts[file.digest] = nil
        verified.remove(file.digest)
        preparedFiles[file] = bytes
        filledTiles = filledTiles.filter { $0.unit != file.unit }
        if !wantsFile(file) { discardPrepared(file) }
    }

    mutating func fileFailed(_ id: OpID, isFull: Bool) {
        guard let op = ops.removeValue(forKey: id), let piece = op.work.piece else { return }
        if isFull {
            diskFull(op.task)
        } else {
            giveUp(op.task, piece, .storage)
        }
    }
}
