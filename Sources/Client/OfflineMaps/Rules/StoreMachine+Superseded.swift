extension StoreMachine {
    /// Drops the holds of packs in whose place a finished plan has others, and removes those without a holder.
    ///
    /// A publisher can cut other zooms, or make a pack complete: then the same tiles are in a pack of another name. What
    /// a plan only lacks stays: a map does not disappear because the catalog has shrunk.
    mutating func dropSuperseded(by plan: TaskPlan, of task: TaskRecord) {
        let wanted = Set(plan.downloads.map(\.file.key).filter(\.isPack))
        let places = Dictionary(grouping: wanted.compactMap(\.packPlace), by: \.tiles)
        guard !places.isEmpty else { return }
        let dropped = rows.holds.filter { hold in
            guard task.items.contains(hold.item), !wanted.contains(hold.key), let old = hold.key.packPlace else {
                return false
            }
            return places[old.tiles, default: []].contains { $0.replaces(old) }
        }
        guard !dropped.isEmpty else { return }
        for hold in dropped.sorted(by: { $0.key < $1.key }) { change(.dropHold(hold)) }
        let held = rows.held
        for key in Set(dropped.map(\.key)).sorted() where !rules.isNeeded(key, held) {
            for file in rows.files.versions(of: key) { removeFile(file) }
        }
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
    /// The place in the key that `pack(tileset:_:_:edition:of:)` makes; `nil` for others.
    fileprivate var packPlace: PackPlace? {
        let fields = name.split(separator: "|", omittingEmptySubsequences: false)
        guard isPack, fields.count == 7, fields[0] == "pack" else { return nil }
        return PackPlace(tiles: [1, 2, 4, 5].map { fields[$0] }.joined(separator: "|"), package: String(fields[6]))
    }
}
