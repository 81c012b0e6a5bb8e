@testable import OfflineMaps

extension SimChecks {
    /// What every transaction keeps: what was readable is readable, whole, and not older.
    func transaction(
        _ before: StoreRows, _ disk: SimDisk, _ server: SimServer, adopted: Set<FileID>
    ) -> String? {
        let after = disk.rows
        for unit in after.units.values.sorted(by: { $0.id < $1.id }) {
            guard let file = disk.files[unit.id] else { return "\(unit.sha256) is installed and not on disk" }
            if file.isBad { return "\(unit.sha256) is installed with wrong bytes" }
        }
        let current = after.units.values.filter { $0.state == .current }.map(\.id.unit)
        if Set(current).count != current.count { return "a unit has two current versions" }
        for old in before.units.values where old.state == .current {
            if let new = after.current(old.id.unit) {
                let isWanted = adopted.contains(new.id) || before.units[new.id]?.state == .previous
                if new.version < old.version && !isWanted {
                    return "\(old.sha256) went back to \(new.sha256)"
                }
            } else if after.held.contains(old.id.unit) {
                return "\(old.sha256) was readable and is gone"
            }
        }
        for hold in before.holds.subtracting(after.holds) {
            let removal = before.tasks.values.first { $0.kind == .remove && $0.items.contains(hold.item) }
            if removal.map({ after.tasks[$0.id] != nil }) ?? true { return "\(hold.item) lost \(hold.unit.name)" }
        }
        for (source, number) in before.sequences where after.sequences[source] ?? 0 < number {
            return "the sequence of \(source) went back from \(number)"
        }
        let packs = Set(after.holds.map(\.unit).filter(\.isPack)).count
        if packs > after.settings.quota.tilePacks { return "\(packs) packs are held" }
        for (unit, versions) in Dictionary(grouping: after.units.values, by: \.id.unit) {
            let limit = unit.isPack ? 0 : after.settings.quota.previousVersions
            let lost = before.units.values.contains { $0.id.unit == unit && after.units[$0.id] == nil }
            if lost && !unit.isPack && versions.count <= limit && before.settings.quota == after.settings.quota
                && after.settings.quota.bytes == nil
            {
                return "a version of \(unit.name) was not kept"
            }
            if versions.count > limit + 1 { return "\(versions.count) versions of \(unit.name) are kept" }
        }
        return adopted.isEmpty ? together(before, after, server) : nil
    }

    /// Files that belong together become current in one transaction.
    private func together(_ before: StoreRows, _ after: StoreRows, _ server: SimServer) -> String? {
        guard before.catalog == after.catalog, before.catalog > 0 else { return nil }
        for task in before.tasks.values where task.together {
            let isAlone = before.tasks.values.allSatisfy {
                $0.id == task.id || Set($0.items).isDisjoint(with: task.items)
            }
            let files = Set(task.items.flatMap { server.pieces(of: $0, before.catalog) }.map(\.file)).filter { file in
                // An adopted file that is newer stays.
                before.current(file.unit).map { $0.version <= file.version } ?? true
            }
            let there = files.filter { before.units[$0]?.state == .current }
            let now = files.filter { after.units[$0]?.state == .current }
            if isAlone && now.count > there.count && now.count < files.count {
                return "task \(task.id.number): \(now.count) of \(files.count) files became current alone"
            }
        }
        return nil
    }
}
