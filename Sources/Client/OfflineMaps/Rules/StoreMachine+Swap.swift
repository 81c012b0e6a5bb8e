internal import Tiles

extension StoreMachine {
    /// Makes the file of a piece current and holds it; the file before is kept or removed.
    mutating func swap(_ piece: Piece) {
        guard !piece.isTile else { return }
        let unit = piece.file.unit
        if let holder = piece.holder, !rows.holds.contains(Hold(unit: unit, item: holder)) {
            change(.hold(Hold(unit: unit, item: holder)))
        }
        guard !isOutdone(piece), isPrepared(piece), var new = removePrepared(piece.file) ?? rows.units[piece.file]
        else { return }
        let before = rows.current(unit)
        var settings = rows.settings
        let expires = expiries.removeValue(forKey: piece.file) ?? piece.expires
        (new.state, new.order, new.usedAt) = (.current, settings.nextOrder, 0)
        new.expires = new.expires ?? expires
        if let age = piece.age { new.age = age }
        settings.nextOrder += 1
        change(.settings(settings))
        change(.unit(new))
        // A part file is left when a crash came between its download and an eviction of the same file.
        discardPart(piece.file.digest)
        wrongs[piece.file.digest] = nil
        if var old = before {
            old.state = .previous
            change(.unit(old))
            dropPrevious(of: unit)
        }
        then(.showReaders)
        if let holder = piece.holder, !unit.isPack {
            then(.report(.installed(holder, version: piece.file.version, changed: nil)))
        }
        discardTrashLast()
    }

    /// Removes the previous versions that are not to be kept, the oldest first.
    private mutating func dropPrevious(of unit: UnitKey) {
        let keep = rules.keptVersions(unit, rows.settings.quota)
        let previous = rows.units.versions(of: unit).filter { $0.state == .previous }
        for old in previous.dropFirst(keep) { removeUnit(old) }
    }

    /// Removes what a smaller number of previous versions does not allow any more.
    mutating func dropAllPrevious() {
        for unit in Set(rows.units.values.filter { $0.state == .previous }.map(\.id.unit)).sorted() {
            dropPrevious(of: unit)
        }
        if !pendingDeletions.isEmpty { discardTrashLast() }
    }

    /// Removes a row now and its file when the row is gone for readers.
    mutating func removeUnit(_ unit: InstalledFile) {
        change(.removeUnit(unit.id))
        setLeaving(.file(unit.id), bytes: unit.bytes)
        pendingDeletions.append(unit)
    }

    /// Emits the removals of files after the new snapshot of the readers.
    mutating func discardTrashLast() {
        for file in pendingDeletions { then(.discard(.file(file.id), path: file.path)) }
        pendingDeletions = []
    }

    /// Drops the holds of the items; units without a holder are removed.
    mutating func remove(_ task: TaskRecord) {
        for item in task.items {
            let dropped = rows.holds.filter { $0.item == item }.sorted { $0.unit < $1.unit }
            for hold in dropped { change(.dropHold(hold)) }
            let held = rows.held
            for hold in dropped where !rules.isNeeded(hold.unit, held) {
                for file in rows.units.versions(of: hold.unit) { removeUnit(file) }
            }
            if rows.tiles[item] != nil { change(.tiles(item, 0)) }
            then(.report(.removed(item)))
        }
        then(.showReaders)
        discardTrashLast()
        end(task, as: .done)
    }

    /// Makes the newest kept version current again.
    mutating func rollback(_ task: TaskRecord) {
        let units = Set(rows.holds.filter { task.items.contains($0.item) }.map(\.unit))
        let moved = units.sorted().filter { goBack($0) }
        if moved.isEmpty { return fail(task.id, .invalidArguments) }
        then(.showReaders)
        end(task, as: .done)
    }

    /// Swaps the current and the newest previous version of a unit; `false` when none was kept.
    private mutating func goBack(_ unit: UnitKey) -> Bool {
        let previous = rows.units.versions(of: unit).first { $0.state == .previous }
        guard var old = previous, var current = rows.current(unit) else { return false }
        current.state = .previous
        old.state = .current
        change(.unit(current))
        change(.unit(old))
        for hold in rows.holders(of: unit) {
            then(.report(.installed(hold.item, version: old.version, changed: nil)))
        }
        return true
    }

    /// The unit goes back to the version before; without one its row goes, so that it is downloaded again.
    mutating func unreadable(_ file: FileID) {
        guard let unit = rows.units[file] else { return }
        let wentBack = unit.state == .current && goBack(file.unit)
        removeUnit(rows.units[file] ?? unit)
        for hold in rows.holders(of: file.unit) {
            then(.report(.damaged(hold.item)))
        }
        if !wentBack { for id in plans.ids { plans.remove(id) } }
        then(.showReaders)
        discardTrashLast()
    }
}
