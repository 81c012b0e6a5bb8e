extension StoreMachine {
    /// Drops the holds of packs in whose place a finished plan has others, and what the definition of a region has no use
    /// for any more; what then has no holder is removed.
    ///
    /// A publisher can cut other zooms, or make a pack complete: then the same tiles are in a pack of another name. What
    /// a plan only lacks stays: a map does not disappear because the catalog has shrunk.
    mutating func dropSuperseded(by plan: TaskPlan, of task: TaskRecord) {
        let wanted = Set(plan.downloads.map(\.file.key).filter(\.isPack))
        let places = Dictionary(grouping: wanted.compactMap(\.packPlace), by: \.tiles)
        let dropped = rows.holds.filter { hold in
            if plan.released.contains(hold) { return true }
            guard task.items.contains(hold.item), !wanted.contains(hold.key), let old = hold.key.packPlace else {
                return false
            }
            return places[old.tiles, default: []].contains { $0.replaces(old) }
        }
        guard !dropped.isEmpty else { return }
        for hold in dropped.sorted(by: { $0.key < $1.key }) { change(.dropHold(hold)) }
        // Earlier versions of parts belong to the parts that go: a rollback to them alone would leave a gap.
        if dropped.contains(where: { !$0.key.isPack && !$0.key.isCompanion }) {
            for key in Set(plan.downloads.map(\.file.key)).sorted() where !key.isPack {
                for old in rows.files.versions(of: key) where old.state == .previous { removeFile(old) }
            }
        }
        let held = rows.held
        for key in Set(dropped.map(\.key)).sorted() where !rules.isNeeded(key, held) { removeFiles(of: key) }
        then(.showReaders)
        discardTrashLast()
    }
}

/// Where a pack is, whatever its zooms are.
private struct PackPlace: Hashable {
    /// Tileset, index tile, data group and language.
    var tiles: String
    /// The package whose tiles alone the pack has; `-` for a pack that all packages share.
    var package: String

    func replaces(_ old: PackPlace) -> Bool { package == old.package || package == "-" || old.package == "-" }
}

extension InstalledFileKey {
    /// The place of a pack; `nil` for other keys.
    fileprivate var packPlace: PackPlace? {
        pack.map { PackPlace(tiles: "\($0.tileset)|\($0.index)|\($0.group)|\($0.language)", package: $0.owner) }
    }
}
