internal import Tiles

extension StoreMachine {
    /// Makes the file of a download current and holds it; the file before is kept or removed.
    ///
    /// - Parameter order: The number of the installation; `nil` is the next one.
    mutating func swap(_ download: DownloadItem, order: Int64? = nil) {
        guard !download.isTile else { return }
        let key = download.file.key
        if let holder = download.holder, !rows.holds.contains(Hold(key: key, item: holder)) {
            change(.hold(Hold(key: key, item: holder)))
            // A version that was planned before may lack tiles that the new holder counts on.
            if key.isPack, isCurrent(download) { for id in plans.tasks(refilling: download.file) { planAgain(id) } }
        }
        guard !isOutdone(download), isPrepared(download),
            var new = removePrepared(download.file) ?? rows.files[download.file]
        else { return }
        let before = rows.current(key)
        var settings = rows.settings
        let expires = expiries.removeValue(forKey: download.file) ?? download.expires
        (new.state, new.order, new.usedAt) = (.current, order ?? settings.nextOrder, 0)
        new.expires = new.expires ?? expires
        if let age = download.age { new.age = age }
        settings.nextOrder = max(settings.nextOrder, new.order + 1)
        change(.settings(settings))
        change(.file(new))
        // A part file is left when a crash came between its download and an eviction of the same file.
        discardPart(download.file.digest)
        wrongs[download.file.digest] = nil
        if var old = before {
            old.state = .previous
            change(.file(old))
            dropPrevious(of: key)
        }
        // What was missing or damaged is here again, or has another version in its place.
        for old in rows.faulty.versions(of: key) { removeFile(old) }
        then(.showReaders)
        if let holder = download.holder, !key.isPack {
            then(.report(.installed(holder, version: download.file.version, changed: nil)))
        }
        discardTrashLast()
    }

    /// Removes the previous versions that are not to be kept, the oldest first.
    private mutating func dropPrevious(of key: InstalledFileKey) {
        let keep = rules.keptVersions(key, rows.settings.quota)
        let previous = rows.files.versions(of: key).filter { $0.state == .previous }
        for old in previous.dropFirst(keep) { removeFile(old) }
    }

    /// Removes what a smaller number of previous versions does not allow any more.
    mutating func dropAllPrevious() {
        for key in Set(rows.files.values.filter { $0.state == .previous }.map(\.id.key)).sorted() {
            dropPrevious(of: key)
        }
        if !pendingDeletions.isEmpty { discardTrashLast() }
    }

    /// Removes a row now and its file when the row is gone for readers.
    ///
    /// Tasks whose plans count on its tiles are planned again.
    mutating func removeFile(_ file: InstalledFile) {
        for id in plans.tasks(countingOn: file.id) { planAgain(id) }
        change(.removeFile(file.id))
        setLeaving(.file(file.id), bytes: file.bytes)
        pendingDeletions.append(file)
    }

    /// Removes all versions of what no item needs any more.
    mutating func removeFiles(of key: InstalledFileKey) {
        for file in rows.files.versions(of: key) + rows.faulty.versions(of: key) { removeFile(file) }
    }

    /// Stops a task and lets it be planned again.
    mutating func planAgain(_ id: TaskID) {
        stopAll(of: id)
        plans.remove(id)
    }

    /// Emits the removals of files after the new snapshot of the readers.
    mutating func discardTrashLast() {
        for file in pendingDeletions { then(.discard(.file(file.id), path: file.path)) }
        pendingDeletions = []
    }

    /// Drops the holds of the items; files without a holder are removed.
    mutating func remove(_ task: TaskRecord) {
        for item in task.items {
            let dropped = rows.holds.filter { $0.item == item }.sorted { $0.key < $1.key }
            for hold in dropped { change(.dropHold(hold)) }
            let held = rows.held
            for hold in dropped where !rules.isNeeded(hold.key, held) { removeFiles(of: hold.key) }
            if rows.tiles[item] != nil { change(.tiles(item, 0)) }
            then(.report(.removed(item)))
        }
        then(.showReaders)
        discardTrashLast()
        end(task, as: .done)
    }

    /// Makes the newest kept version current again.
    mutating func rollback(_ task: TaskRecord) {
        let moved = rows.keysGoingBack(of: Set(task.items)).filter { goBack($0) }
        if moved.isEmpty { return fail(task.id, .invalidArguments) }
        then(.showReaders)
        discardTrashLast()
        end(task, as: .done)
    }

    /// Swaps the current and the newest previous version of a file; `false` when none was kept.
    ///
    /// A damaged version is not kept.
    mutating func goBack(_ key: InstalledFileKey) -> Bool {
        let previous = rows.files.versions(of: key).first { $0.state == .previous }
        guard var old = previous, var current = rows.readable(key) else { return false }
        let isDamaged = current.state == .damaged
        current.state = .previous
        old.state = .current
        // What goes back together has one number afterwards too, so that a second rollback takes it forward together.
        (old.order, current.order) = (current.order, old.order)
        if isDamaged { removeFile(current) } else { change(.file(current)) }
        change(.file(old))
        for hold in rows.holders(of: key) {
            then(.report(.installed(hold.item, version: old.version, changed: nil)))
        }
        return true
    }
}
