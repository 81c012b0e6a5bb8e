@testable import OfflineMaps

extension SimChecks {
    /// What every transaction keeps: what was readable is readable, whole, and not older.
    func transaction(
        _ before: StoreRows, _ disk: SimDisk, _ server: SimServer, adopted: Set<FileID>
    ) -> String? {
        let after = disk.rows
        for installed in after.files.values.sorted(by: { $0.id < $1.id }) {
            guard let file = disk.files[installed.id] else { return "\(installed.sha256) is installed and not on disk" }
            if file.isBad { return "\(installed.sha256) is installed with wrong bytes" }
        }
        for damaged in after.damaged where disk.files[damaged.id] == nil {
            return "\(damaged.sha256) is damaged and gone"
        }
        for old in before.damaged where after.held.contains(old.id.key) && after.readable(old.id.key) == nil {
            return "\(old.sha256) was readable in part and is gone"
        }
        let current = after.files.values.filter { $0.state == .current }.map(\.id.key)
        if Set(current).count != current.count { return "a key has two current versions" }
        for old in before.files.values where old.state == .current {
            if let new = after.current(old.id.key) {
                let isWanted = adopted.contains(new.id) || before.files[new.id]?.state == .previous
                if new.version < old.version && !isWanted {
                    return "\(old.sha256) went back to \(new.sha256)"
                }
            } else if after.held.contains(old.id.key), after.readable(old.id.key) == nil {
                return "\(old.sha256) was readable and is gone"
            }
        }
        for hold in before.holds.subtracting(after.holds) {
            let removal = before.tasks.values.first { $0.kind == .remove && $0.items.contains(hold.item) }
            if removal.map({ after.tasks[$0.id] != nil }) ?? true { return "\(hold.item) lost \(hold.key.name)" }
        }
        for (source, number) in before.sequences where after.sequences[source] ?? 0 < number {
            return "the sequence of \(source) went back from \(number)"
        }
        let packs = Set(after.holds.map(\.key).filter(\.isPack)).count
        if packs > after.settings.quota.tilePacks { return "\(packs) packs are held" }
        for (key, versions) in Dictionary(grouping: after.files.values, by: \.id.key) {
            let limit = key.isPack ? 0 : after.settings.quota.previousVersions
            let lost = before.files.values.contains {
                $0.id.key == key && after.files[$0.id] == nil && after.faulty[$0.id] == nil
            }
            if lost && !key.isPack && versions.count <= limit && before.settings.quota == after.settings.quota
                && after.settings.quota.bytes == nil
            {
                return "a version of \(key.name) was not kept"
            }
            if versions.count > limit + 1 { return "\(versions.count) versions of \(key.name) are kept" }
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
            let files = Set(task.items.flatMap { server.downloads(of: $0, before.catalog) }.map(\.file)).filter {
                file in
                // An adopted file that is newer stays.
                before.current(file.key).map { $0.version <= file.version } ?? true
            }
            func isThere(_ file: FileID, in rows: StoreRows) -> Bool { rows.readable(file.key)?.id == file }
            let there = files.filter { isThere($0, in: before) }
            let now = files.filter { isThere($0, in: after) }
            if isAlone && now.count > there.count && now.count < files.count {
                return "task \(task.id.number): \(now.count) of \(files.count) files became current alone"
            }
        }
        return nil
    }
}
