/// Files that are lost or damaged: nothing that can be read is removed before something whole takes its place.
extension StoreMachine {
    /// A file is not at its place, where it may come back: the version before takes its place.
    ///
    /// What an item needs stays known as missing until it is downloaded again, comes back, or a person removes the item.
    mutating func lost(_ id: FileID) {
        guard var known = rows.files[id] ?? rows.faulty[id] else { return }
        let wentBack = known.state == .current && goBack(id.key)
        known.state = .missing
        change(rows.held.contains(id.key) ? .file(known) : .removeFile(id))
        reportFault(of: id, isReplaced: wentBack)
    }

    /// Some bytes of a file are wrong: readers keep what can be read of it, and it is downloaded like a file that is not there.
    ///
    /// What no item needs is a cache, and is removed.
    mutating func damaged(_ id: FileID) {
        guard var known = rows.files[id], known.state == .current else { return }
        if rows.held.contains(id.key) {
            known.state = .damaged
            change(.file(known))
        } else {
            removeFile(known)
        }
        reportFault(of: id, isReplaced: false)
    }

    /// The version before takes the place of a file that is damaged or missing; a damaged version that was kept goes.
    mutating func givesWay(_ id: FileID) {
        guard let known = rows.files[id] ?? rows.faulty[id] else { return }
        let wentBack = known.isRead && goBack(id.key)
        guard wentBack || !known.isRead && rows.readable(id.key) != nil else { return }
        if let rest = rows.files[id] ?? rows.faulty[id] { removeFile(rest) }
        reportFault(of: id, isReplaced: true, isNew: known.state != .damaged)
    }

    /// - Parameters:
    ///   - isReplaced: Whether readers have a whole version in its place.
    ///   - isNew: Whether it is not known yet.
    private mutating func reportFault(of id: FileID, isReplaced: Bool, isNew: Bool = true) {
        for task in plans.tasks(countingOn: id) { planAgain(task) }
        if isNew { for hold in rows.holders(of: id.key) { then(.report(.damaged(hold.item))) } }
        if !isReplaced { for task in plans.ids { plans.remove(task) } }
        then(.showReaders)
        discardTrashLast()
    }

    /// A file that was missing or damaged is whole, and becomes current again, when no newer version has taken its place.
    ///
    /// - Parameters:
    ///   - whole: The file as it is now; `nil` when it is as its row says.
    ///   - download: What has brought it; `nil` when it came back by itself: then what its row says of its age counts.
    mutating func returned(_ id: FileID, as whole: InstalledFile? = nil, by download: DownloadItem? = nil) {
        guard let back = rows.faulty[id] else { return }
        change(.removeFile(id))
        // What a task does for the same file has become useless.
        if let op = ops.on(id.digest)?.id { stop(op) }
        addPrepared(whole ?? back)
        if let current = rows.current(id.key), current.version > back.version { return discardPrepared(id) }
        var arrived = DownloadItem(holder: rows.holders(of: id.key).first?.item, file: id, size: back.bytes)
        (arrived.age, arrived.expires) = (download?.age ?? back.age, download?.expires ?? back.expires)
        swap(arrived)
        // A newer pack may have taken its place.
        discardPrepared(id)
    }
}
