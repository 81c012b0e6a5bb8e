extension StoreMachine {
    /// Everything on disk that counts towards the quota, with what is still being removed.
    var used: UInt64 {
        rows.files.values.reduce(0) { $0 + $1.bytes } + rows.damaged.reduce(0) { $0 + $1.bytes }
            + parts.values.reduce(0, +)
            + preparedFiles.values.reduce(0) { $0 + $1.bytes } + trash.values.reduce(0, +)
    }

    /// Bytes that the operations under way, and the part files that are there, will still add.
    var inFlight: UInt64 {
        ops.values.reduce(0) { $0 + ($1.work.download.map(bytesToCome) ?? 0) }
            + parts.reduce(0) { $0 + $1.value * plans.copies(of: $1.key) }
    }

    /// Bytes that the disk needs for a download from now on.
    func bytesToCome(_ download: DownloadItem) -> UInt64 {
        if isPrepared(download) || isCurrent(download) || isOutdone(download) || download.source == .filled { return 0 }
        if download.isTile {
            let isBegun = plans.places(of: download.file.digest).contains { place in
                plans[place.task]?.fills[download.file.key].map { parts[$0.digest] != nil } ?? false
            }
            return download.size * (1 + download.copies) + (isBegun ? 0 : copied(for: download))
        }
        let there = parts[download.file.digest] ?? 0
        let rest = download.size > there ? download.size - there : 0
        guard let patch = usesPatch(download), !verified.contains(download.file.digest) else {
            return rest * (1 + download.copies)
        }
        let ofPatch = parts[patch.digest] ?? 0
        return download.size + (patch.size > ofPatch ? patch.size - ofPatch : 0)
    }

    /// The downloads that have neither failed nor become current.
    private func openDownloads(of task: TaskID) -> [DownloadItem] {
        guard let plan = plans[task] else { return [] }
        return plan.openNumbers.map { plan.downloads[$0] }
    }

    /// Whether quota and disk have the space for a download; evicts first, and otherwise notes why the task stands.
    mutating func admits(_ download: DownloadItem, for task: TaskRecord) -> Bool {
        // What belongs together is needed at once; other downloads take their turn.
        let need =
            task.together || plans[task.id]?.swapsTogether ?? false
            ? openDownloads(of: task.id).filter { ops.on($0.file.digest) == nil }.reduce(0) { $0 + bytesToCome($1) }
            : bytesToCome(download)
        return admitsByQuota(need, isCache: download.holder == nil, for: task) && admitsByDisk(need, for: task)
    }

    private mutating func admitsByQuota(_ need: UInt64, isCache: Bool, for task: TaskRecord) -> Bool {
        guard let allowed = rules.allowedBytes(rows.settings.quota, isCache),
            let start = rows.settings.quota.evictionStart
        else { return true }
        let total = used + inFlight + need
        if total > start { evict(total - start) }
        if used + inFlight + need <= allowed { return true }
        let leaving = trash.values.reduce(0, +)
        // What is being removed makes space in a moment; the event `gone` continues the task.
        if used + inFlight + need - leaving > allowed && ops.values.allSatisfy({ $0.work.download == nil }) {
            blocked[task.id] = .quota(needed: used + inFlight + need - leaving, allowed: allowed)
        }
        return false
    }

    private mutating func admitsByDisk(_ need: UInt64, for task: TaskRecord) -> Bool {
        let needed = need + inFlight + Self.diskMargin
        // What a person has to free is what the whole task needs.
        let rest = plans[task.id].map { $0.cost - min($0.cost, $0.there) } ?? 0
        let all = max(needed, rest + Self.diskMargin)
        if let until = fullUntil[task.id] {
            if until > now {
                blocked[task.id] = .diskFull(needed: all, free: free)
                return false
            }
            fullUntil[task.id] = nil
        }
        if needed <= free { return true }
        blocked[task.id] = .diskFull(needed: all, free: free)
        return false
    }

    /// Whether a step without the network may begin: at once, and after a full disk when its space may be there again.
    mutating func admitsAgain(_ download: DownloadItem, for task: TaskID) -> Bool {
        guard let until = fullUntil[task] else { return true }
        let needed = bytesToCome(download) + Self.stepBytes
        guard until <= now, needed <= free else {
            blocked[task] = .diskFull(needed: needed, free: free)
            return false
        }
        fullUntil[task] = nil
        return true
    }

    /// Removes previous versions, then packs that no region has or keeps, the nearest expiry first, until the bytes are
    /// free.
    ///
    /// Part files without a task have been removed by ``sweep()``.
    mutating func evict(_ bytes: UInt64) {
        var freed = trash.values.reduce(0, +)
        let before = freed
        let previous = rows.files.values.filter { $0.state == .previous && !plans.wants($0.id) }
            .sorted { $0.order < $1.order }
        // What a changed region gives back makes space for what it is to hold.
        let released = plans.all.reduce(into: Set<Hold>()) { $0.formUnion($1.released) }
        let held = Set(rows.holds.subtracting(released).map(\.key))
        let packs = rows.files.values.filter { file in
            file.state == .current && file.id.key.isPack && !rules.isNeeded(file.id.key, held)
                && !plans.wants(file.id.key)
        }
        .sorted { ($0.expires ?? .max, $0.usedAt, $0.id) < ($1.expires ?? .max, $1.usedAt, $1.id) }
        for file in previous + packs where freed < bytes {
            freed += file.bytes
            removeFile(file)
        }
        guard freed > before else { return }
        then(.report(.evicted(bytes: freed - before)))
        then(.showReaders)
        discardTrashLast()
    }

    /// Why a plan exceeds a limit; `nil` when it does not.
    func limitExceeded(by plan: Plan, of task: TaskRecord) -> (FailureCause, Limit)? {
        let quota = rows.settings.quota
        let own = plan.downloads.filter { $0.isPack && $0.holder != nil }.map(\.file.key)
        let packs = heldPacks(with: own, without: plan.released)
        if !own.isEmpty && !rules.allowsPacks(packs, quota) {
            return (.tooManyPacks, .tilePacks(needed: packs, allowed: quota.tilePacks))
        }
        var tiles = rows.tiles
        for other in plans.ids where other != task.id {
            guard let count = plans[other]?.onlineTiles, count > 0 else { continue }
            for item in rows.tasks[other]?.items ?? [] { tiles[item] = count }
        }
        for item in task.items { tiles[item] = nil }
        let needed = tiles.values.reduce(0, +) + plan.onlineTiles
        if plan.onlineTiles > 0 && needed > quota.onlineTiles {
            return (.tooManyTiles, .onlineTiles(needed: needed, allowed: quota.onlineTiles))
        }
        return nil
    }

    /// How many packs are held, or will be when all tasks and these packs are done.
    func heldPacks(with new: [InstalledFileKey], without released: Set<Hold> = []) -> Int {
        var packs = Set(rows.holds.subtracting(released).map(\.key).filter(\.isPack))
        packs.formUnion(new)
        for plan in plans.all {
            for download in plan.downloads where download.isPack && download.holder != nil {
                packs.insert(download.file.key)
            }
        }
        return packs.count
    }
}
