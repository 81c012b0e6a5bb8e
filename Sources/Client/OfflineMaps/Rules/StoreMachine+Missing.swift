extension StoreMachine {
    /// A file cannot be used: the version before takes its place.
    ///
    /// What an item needs stays known as missing until it is downloaded again, comes back, or a person removes the item.
    ///
    /// - Parameter isLost: Whether it is not at its place, where it may come back; otherwise its bytes are removed.
    mutating func unreadable(_ id: FileID, isLost: Bool) {
        guard let known = rows.files[id] ?? rows.missing[id] else { return }
        let wentBack = known.state == .current && goBack(id.key)
        for task in plans.tasks(countingOn: id) { planAgain(task) }
        let hasOther = rows.current(id.key).map { $0.id != id } ?? false
        if rows.held.contains(id.key), isLost || !hasOther {
            var missing = known
            missing.state = .missing
            change(.file(missing))
        } else {
            change(.removeFile(id))
        }
        if !isLost {
            setLeaving(.file(id), bytes: known.bytes)
            pendingDeletions.append(known)
        }
        for hold in rows.holders(of: id.key) { then(.report(.damaged(hold.item))) }
        if !wentBack { for task in plans.ids { plans.remove(task) } }
        then(.showReaders)
        discardTrashLast()
    }

    /// A file that was missing becomes current again, when no newer version has taken its place.
    mutating func returned(_ id: FileID) {
        guard let back = rows.missing[id] else { return }
        change(.removeFile(id))
        // What a task does for the same file has become useless.
        if let op = ops.on(id.digest)?.id { stop(op) }
        addPrepared(back)
        if let current = rows.current(id.key), current.version > back.version { return discardPrepared(id) }
        swap(DownloadItem(holder: rows.holders(of: id.key).first?.item, file: id, size: back.bytes))
    }
}
