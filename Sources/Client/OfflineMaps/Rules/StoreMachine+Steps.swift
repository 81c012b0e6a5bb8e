/// What is known of the disk, and what follows from it for the downloads of all plans.
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
        refresh(file.id.key)
    }

    @discardableResult mutating func removePrepared(_ file: FileID) -> InstalledFile? {
        defer { refresh(file.key) }
        return preparedFiles.removeValue(forKey: file)
    }

    /// Notes that a tile is in the part file of its pack, or that the server has none.
    mutating func setFilled(_ tile: DownloadItem, of task: TaskID) {
        guard let fill = plans[task]?.fills[tile.file.key] else { return }
        filledTiles[fill.digest, default: []].insert(tile.file.digest)
        refresh(tile.file.digest)
    }

    mutating func forgetFilled(_ digest: String) {
        guard filledTiles.removeValue(forKey: digest) != nil else { return }
        for place in plans.places(of: digest) {
            if let key = plans[place.task]?.downloads[place.number].file.key { refresh(key) }
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

    mutating func setFailed(_ download: DownloadItem, of task: TaskID, _ cause: FailureCause) {
        plans[task]?.fail(download.file, cause)
        refresh(download.file.digest)
    }

    mutating func setPlan(_ plan: Plan, of task: TaskID) {
        plans.set(TaskPlan(plan), of: task)
        for number in plan.downloads.indices { refresh(PlanTable.Place(task: task, number: number)) }
    }

    mutating func refresh(_ digest: String) { for place in plans.places(of: digest) { refresh(place) } }
    mutating func refresh(_ key: InstalledFileKey) { for place in plans.places(of: key) { refresh(place) } }

    private mutating func refresh(_ place: PlanTable.Place) {
        guard let state = state(at: place) else { return }
        // The step of a pack depends on its tiles, that of a tile on its pack's file and not on its step.
        guard let filled = plans[place.task]?.set(place.number, state) else { return }
        let pack = PlanTable.Place(task: place.task, number: filled)
        if let state = self.state(at: pack) { _ = plans[place.task]?.set(filled, state) }
    }

    private func state(at place: PlanTable.Place) -> TaskPlan.State? {
        guard let plan = plans[place.task] else { return nil }
        let download = plan.downloads[place.number]
        let step = step(of: download, in: plan)
        guard download.source != .filled else { return TaskPlan.State(step: step) }
        let patch = download.patch.flatMap { mayUse($0) ? $0 : nil }
        let cost = patch?.size ?? download.size
        let isThere = step == .done || step == .swap
        let there =
            isThere || isPrepared(download)
            ? cost
            : parts.downloaded(of: download.file.digest, size: download.size, patch: patch?.digest, cost: cost)
        return TaskPlan.State(step: step, patch: patch?.digest, cost: cost, there: there)
    }

    private func step(of download: DownloadItem, in plan: TaskPlan) -> DownloadStep {
        if plan.failed[download.file] != nil { return .failed }
        if download.isTile {
            if isFilled(download, in: plan) { return .done }
        } else {
            if isDone(download) { return .done }
            if isPrepared(download) || isCurrent(download) || isOutdone(download) { return .swap }
        }
        if let op = ops.on(download.file.digest) { return .underWay(isFetch: op.op.work.isFetch) }
        guard let local = localStep(of: download, in: plan) else { return .fetch }
        return trash[.file(download.file)] == nil ? local : .wait
    }

    private func isFilled(_ tile: DownloadItem, in plan: TaskPlan) -> Bool {
        guard let fill = plan.fills[tile.file.key] else { return false }
        if filledTiles[fill.digest]?.contains(tile.file.digest) ?? false { return true }
        return fill.filled.map { isPrepared(plan.downloads[$0]) || isCurrent(plan.downloads[$0]) } ?? false
    }

    /// The next step of a download whose bytes are on the disk.
    private func localStep(of download: DownloadItem, in plan: TaskPlan) -> DownloadStep? {
        let digest = download.file.digest
        switch download.source {
        case .tile: return nil
        case .filled: return plan.fills[download.file.key]?.open ?? 0 == 0 ? .prepare : .wait
        case .file:
            if verified.contains(digest) { return .prepare }
            if let patch = usesPatch(download), parts[patch.digest] == patch.size { return .patch }
            return parts[digest] == download.size ? .verify : nil
        }
    }

    /// Whether the file of the download is at its place and is not current.
    func isPrepared(_ download: DownloadItem) -> Bool {
        preparedFiles[download.file] != nil || !download.isTile && rows.files[download.file]?.state == .previous
    }

    /// Whether the bytes of the download are those that readers get.
    func isCurrent(_ download: DownloadItem) -> Bool {
        !download.isTile && rows.files[download.file]?.state == .current
    }

    /// Whether the download, or a newer pack in its place, is current and held.
    func isDone(_ download: DownloadItem) -> Bool {
        (isCurrent(download) || isOutdone(download))
            && download.holder.map { rows.holds.contains(Hold(key: download.file.key, item: $0)) } ?? true
    }

    /// The patch that a download is made from, as long as it is of use.
    func usesPatch(_ download: DownloadItem) -> DownloadPatch? {
        guard let patch = download.patch, mayUse(patch), let current = rows.current(download.file.key),
            current.sha256 == patch.base
        else { return nil }
        return patch
    }

    private func mayUse(_ patch: DownloadPatch) -> Bool { rules.usesPatch(patchFailures[patch.digest] ?? 0) }
}
