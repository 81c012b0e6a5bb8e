/// Whose turn it is.
extension StoreMachine {
    /// Lists first, then the highest priority, then the oldest.
    mutating func order() -> [TaskID] {
        if let turns { return turns }
        let new = rows.tasks.values.sorted { left, right in
            let (a, b) = (left.kind == .list, right.kind == .list)
            if a != b { return a }
            if left.rule.priority != right.rule.priority { return left.rule.priority > right.rule.priority }
            return left.id < right.id
        }
        .map(\.id)
        turns = new
        return new
    }

    /// Why a task may do nothing at all; `nil` when it may.
    func barrier(_ task: TaskRecord) -> TaskState? {
        // What only a person can change counts first, also while the store does not work.
        if let cause = task.failure { return .failed(cause) }
        if rules.isPaused(task) { return .paused(.user) }
        switch run {
        case .suspended: return .paused(.suspended)
        case .stopped: return .paused(.stopped)
        case .reading where task.kind != .list: return .paused(.stopped)
        case .running, .reading: break
        }
        if awaitedList[task.id] != nil { return .waiting(.turn) }
        return nil
    }

    var hasNetwork: Bool { rules.hasNetwork(network, isForcedOffline) }

    /// Why a task may send no request; `nil` when it may.
    func networkBarrier(_ task: TaskRecord) -> TaskState? {
        guard hasNetwork else { return .waiting(.network) }
        let rule = task.rule.network ?? rows.settings.networkRule
        if rule == .none || rule == .notExpensive && network == .expensive { return .paused(.networkRule) }
        if !isOnline && now < probeAt { return .waiting(.network) }
        let waits = [serverWaits[task.id], backoffs[task.id]].compactMap { $0 }.filter { $0.until > now }
        return waits.max { $0.until < $1.until }.map { .waiting($0.reason) }
    }

    /// Begins and stops operations until nothing more changes.
    mutating func schedule() {
        if let measureAt, measureAt <= now {
            self.measureAt = nil
            then(.measureDisk)
        }
        blocked = [:]
        for id in order() { if let task = rows.tasks[id] { advance(task) } }
        var rounds = 0
        while assignSlots() && rounds < 4 { rounds += 1 }
        if measureAt == nil, blocked.values.contains(where: \.isDisk) { measureAt = now + Self.diskInterval }
    }

    /// Gives the slots to the first tasks of the order and stops the downloads that have none.
    ///
    /// Returns whether a download was stopped, so that its file may be free for another task, or could not begin.
    private mutating func assignSlots() -> Bool {
        var slots = Slots()
        let known = blocked.count
        for id in order() where uncommittedTasks[id] == nil {
            guard let task = rows.tasks[id], task.kind.isOnline, barrier(task) == nil,
                networkBarrierOfRunning(task) == nil
            else { continue }
            fill(&slots, for: task)
        }
        let losers = ops.filter { $1.usesNetwork(rows) && !slots.kept.contains($0) }
        for op in losers { stop(op) }
        for start in slots.starts where networkBarrier(start.task) == nil {
            // While it is not known whether there is a network, one request finds out.
            if !isOnline, hasNetwork, ops.values.contains(where: { $0.usesNetwork(rows) }) { break }
            if let download = start.download {
                startFetch(download, for: start.task)
            } else {
                askedAt[start.task.id] = askedAt[start.task.id] ?? now
                then(.list(begin(start.task.id, .list)))
            }
        }
        return !losers.isEmpty || blocked.count > known
    }

    /// What has a slot, and what gets one.
    private struct Slots {
        var files = StoreMachine.fileSlots
        var tiles = StoreMachine.tileSlots
        /// Whether a task gets tiles of a tile server: later ones begin no fetch of such tiles, and use those that it has.
        var hasOnlineTiles = false
        var kept: Set<OpID> = []
        var starts: [(task: TaskRecord, download: DownloadItem?)] = []
        /// Files of which the download begins.
        var claimed: Set<String> = []
    }

    private func fill(_ slots: inout Slots, for task: TaskRecord) {
        let reading = ops.reading(task.id)
        if let reading { slots.kept.insert(reading) }
        if task.kind == .list {
            slots.files -= 1
            if reading == nil { slots.starts.append((task, nil)) }
            return
        }
        let waits = slots.hasOnlineTiles && plans[task.id]?.onlineTiles ?? 0 > 0
        if fillsOnline(task) { slots.hasOnlineTiles = true }
        guard let plan = plans[task.id], plan.network > 0 else { return }
        var (files, tiles) = (plan.network - plan.networkTiles, plan.networkTiles)
        if waits { tiles = ops.works(of: task.id).count(where: \.isFetch) }
        for number in plan.openNumbers {
            if (slots.files <= 0 || files == 0) && (slots.tiles <= 0 || tiles == 0) { return }
            let step = plan.states[number].step
            guard step.needsNetwork else { continue }
            let download = plan.downloads[number]
            if waits, download.isTile, step == .fetch { continue }
            if download.isTile { tiles -= 1 } else { files -= 1 }
            guard download.isTile ? slots.tiles > 0 : slots.files > 0 else { continue }
            if step == .fetch {
                guard slots.claimed.insert(download.file.digest).inserted else { continue }
                slots.starts.append((task, download))
            } else {
                guard let known = ops.on(download.file.digest), known.op.task == task.id else { continue }
                slots.kept.insert(known.id)
            }
            if download.isTile { slots.tiles -= 1 } else { slots.files -= 1 }
        }
    }

    /// Whether a task is about to get tiles of a tile server, which a region after it may want too.
    private func fillsOnline(_ task: TaskRecord) -> Bool {
        guard let plan = plans[task.id] else {
            return ops.reading(task.id) != nil && task.items.contains(where: \.isRegion)
        }
        return plan.onlineTiles > 0 && plan.open > 0 && blocked[task.id] == nil && networkBarrier(task) == nil
    }

    /// A wait of a task delays its next requests and not those that run.
    private func networkBarrierOfRunning(_ task: TaskRecord) -> TaskState? {
        switch networkBarrier(task) {
        case .waiting(.backoff), .waiting(.server): nil
        case .waiting(.network) where hasNetwork: nil
        case let other: other
        }
    }

    private mutating func startFetch(_ download: DownloadItem, for task: TaskRecord) {
        let digest = usesPatch(download)?.digest ?? download.file.digest
        guard trash[.part(digest)] == nil, admits(download, for: task) else { return }
        let from = parts[digest] ?? 0
        if !download.isTile { setPart(digest, from) }
        let op = begin(task.id, .fetch(download, digest: digest))
        then(.fetch(op, download, digest: digest, from: from, bytesPerSecond: task.rule.bytesPerSecond))
    }
}

extension PauseReason {
    var isDisk: Bool { if case .diskFull = self { true } else { false } }
}
