internal import TextFormats

/// What comes of requests.
extension StoreMachine {
    /// A request or a work on a file; `download` is `nil` for a list and a plan.
    struct Attempt {
        var task: TaskID
        var download: DownloadItem?
        /// The part file, or a name for what is counted together.
        var digest: String
    }

    mutating func received(_ id: OpID, size: UInt64) {
        guard let op = ops[id], case .fetch(let download, let digest) = op.work else { return }
        found()
        if download.isTile {
            fill(download, of: op.task, size: size)
            return isFetched(id, download, of: op.task)
        }
        let before = parts[digest] ?? 0
        if size > before {
            free -= min(free, size - before)
            transferred(size - before, by: op.task)
            errors[digest] = nil
            tries[op.task] = nil
        }
        setPart(digest, size)
    }

    /// The file that is being filled has a tile more, of this size.
    private mutating func fill(_ tile: DownloadItem, of task: TaskID, size: UInt64) {
        for place in plans.places(of: tile.file.digest) { plans[place.task]?.setSize(place.number, size) }
        if let fill = plans[task]?.fills[tile.file.key] {
            setPart(fill.digest, (parts[fill.digest] ?? copied(for: tile)) + size)
        }
        free -= min(free, size)
        transferred(size, by: task)
    }

    /// Bytes that a pack has when its part file begins: it begins as a copy of its current version.
    func copied(for tile: DownloadItem) -> UInt64 { tile.file.key.isPack ? rows.current(tile.file.key)?.bytes ?? 0 : 0 }

    private mutating func isFetched(_ id: OpID, _ tile: DownloadItem, of task: TaskID) {
        _ = endOp(id)
        setFilled(tile, of: task)
        errors[tile.file.digest] = nil
        tries[task] = nil
    }

    mutating func fetched(_ id: OpID, expires: Int64?) {
        guard let op = ops[id], case .fetch(let download, let digest) = op.work else { return }
        found()
        if download.isTile {
            // Without `received` there was no tile: the server has none at this place. The pack notes that, too.
            fill(download, of: op.task, size: 0)
            return isFetched(id, download, of: op.task)
        }
        _ = endOp(id)
        errors[digest] = nil
        tries[op.task] = nil
        if let expires { expiries[download.file] = expires }
        let expected = digest == download.file.digest ? download.size : download.patch?.size
        if parts[digest] != expected { isWrong(Attempt(task: op.task, download: download, digest: digest)) }
    }

    mutating func fetchFailed(_ id: OpID, _ fault: FetchFault) {
        guard let op = endOp(id), case .fetch(let download, let digest) = op.work else { return }
        failed(fault, in: Attempt(task: op.task, download: download, digest: digest))
    }

    /// What follows from a fault.
    mutating func failed(_ fault: FetchFault, in attempt: Attempt) {
        switch fault {
        case .noConnection, .portal: lost(attempt.task)
        case .broken: backOff(attempt, .connection, saying: "the connection to its server ends early")
        case .diskFull: diskFull(attempt.task)
        case .storage(let text):
            diskTexts[attempt.task] = text
            giveUp(attempt, .storage)
        case .refused(let cause): giveUp(attempt, cause)
        case .status(let status, let retryAfter):
            found()
            answered(status, retryAfter: retryAfter, to: attempt)
        }
    }

    private mutating func answered(_ status: Int, retryAfter: Int64?, to attempt: Attempt) {
        switch status {
        case 404, 410: notFound(attempt)
        case 401, 403: refuse(attempt, .notAllowed, status: status)
        case 402: refuse(attempt, .limitExceeded, status: status)
        case 406, 413: giveUp(attempt, .tooBig)
        case 429, 503:
            let asked = retryAfter ?? random.backoff(tries: tries[attempt.task, default: 0])
            tries[attempt.task, default: 0] += 1
            let delay = rules.serverWait(asked)
            let wish = retryAfter.map { " and asks to wait \(Self.words($0))" } ?? ""
            let text = "its server answers with the HTTP status \(status)\(wish)"
            guard !endsList(attempt, .serverError, saying: text, before: now + delay) else { return }
            let wait = Wait(until: now + delay, reason: .server(.milliseconds(delay)))
            serverWaits[attempt.task] = wait.longer(serverWaits[attempt.task])
        case 500...599:
            let before = errors[attempt.digest]
            let count = before?.status == status ? (before?.count ?? 0) + 1 : 1
            errors[attempt.digest] = Errors(status: status, count: count)
            if count >= Self.patience { return giveUp(attempt, .serverError) }
            backOff(attempt, .serverError, saying: "its server answers with the HTTP status \(status)")
        default: giveUp(attempt, .notFound)
        }
    }

    private mutating func backOff(_ attempt: Attempt, _ cause: FailureCause, saying text: String) {
        let task = attempt.task
        let delay = random.backoff(tries: tries[task, default: 0])
        tries[task, default: 0] += 1
        guard !endsList(attempt, cause, saying: text, before: now + delay) else { return }
        let wait = Wait(until: now + delay, reason: .backoff(.milliseconds(delay)))
        backoffs[task] = wait.longer(backoffs[task])
    }

    /// Ends a list whose next attempt would come too late for those who wait for it.
    ///
    /// - Parameter text: Why it was not read, after the words `was not read`.
    private mutating func endsList(
        _ attempt: Attempt, _ cause: FailureCause, saying text: String, before next: Instant
    ) -> Bool {
        guard rows.tasks[attempt.task]?.kind == .list,
            (askedAt[attempt.task] ?? now) + Self.listPatience < next
        else { return false }
        fail(attempt.task, cause, text: text)
        return true
    }

    private static func words(_ milliseconds: Int64) -> String {
        Units.duration(seconds: Double(milliseconds) / 1_000)
    }

    /// Anything that goes wrong with a patch ends the use of the patch and not the task.
    mutating func dropsPatch(_ download: DownloadItem?) -> Bool {
        guard let download, let patch = usesPatch(download) else { return false }
        patchFailures[patch.digest, default: 0] += 1
        refresh(patch.digest)
        discardPart(patch.digest)
        return true
    }

    mutating func giveUp(_ attempt: Attempt, _ cause: FailureCause) {
        if dropsPatch(attempt.download) { return }
        guard let download = attempt.download else { return fail(attempt.task, cause) }
        setFailed(download, of: attempt.task, cause)
    }

    /// The server refuses this device: further requests of the task would be refused too.
    private mutating func refuse(_ attempt: Attempt, _ cause: FailureCause, status: Int) {
        if dropsPatch(attempt.download) { return }
        fail(attempt.task, cause, text: attempt.download?.text(of: cause, status: status))
    }

    /// The list may have moved on: it is read once more, and the task is planned again.
    private mutating func notFound(_ attempt: Attempt) {
        if dropsPatch(attempt.download) { return }
        let task = attempt.task
        guard let download = attempt.download, !download.isTile, !hasAskedAgain.contains(task) else {
            return giveUp(attempt, .notFound)
        }
        hasAskedAgain.insert(task)
        stopAll(of: task)
        awaitedList[task] = add(TaskRecord(id: task, kind: .list))
    }

    mutating func diskFull(_ task: TaskID) {
        free = 0
        fullUntil[task] = now + Self.diskInterval
        then(.measureDisk)
    }
}

extension StoreMachine.Wait {
    /// This wait, or another that ends later.
    fileprivate func longer(_ other: Self?) -> Self { other.map { $0.until > until ? $0 : self } ?? self }
}
