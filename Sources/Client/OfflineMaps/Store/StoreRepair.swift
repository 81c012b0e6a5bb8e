internal import Errors
internal import Files
internal import Foundation

/// Makes the database of a store again from its unit files, when it is damaged or missing.
enum StoreRepair {
    /// What a repair found.
    struct Report: Sendable, Hashable {
        /// The name of the damaged database, which is kept.
        var setAside: String?
        /// Units that are listed again.
        var units = 0
        /// Paths of unit files that do not describe their file.
        var refused: [String] = []
    }

    /// Opens the database; a damaged one is set aside and made again.
    ///
    /// Only for the process that holds the lock. The tasks of a damaged database are lost.
    ///
    /// - Returns: The database, and what was repaired; `nil` when nothing was damaged.
    /// - Throws: ``StoreError`` `storage`, `disk-full`.
    static func open(_ folder: StoreFolder) throws -> (database: StoreDatabase, report: Report?) {
        do { return (try StoreDatabase.open(folder, isWorker: true), nil) } catch is StoreDatabase.Damage {
            var report = Report()
            report.setAside = try setAside(folder)
            let database = try StoreDatabase.open(folder, isWorker: true)
            try rebuild(folder, into: database, &report)
            return (database, report)
        }
    }

    /// Renames the database and its journal, so that a person can look at them.
    private static func setAside(_ folder: StoreFolder) throws -> String {
        var number = 1
        var name = "store.sqlite.damaged"
        while FileManager.default.fileExists(atPath: folder.root.appending(path: name).path) {
            number += 1
            name = "store.sqlite.damaged-\(number)"
        }
        // The journal first: a journal without its database must never be applied to the new one.
        for suffix in ["-journal", "-wal", "-shm", ""] {
            let old = URL(filePath: folder.database.path + suffix)
            guard FileManager.default.fileExists(atPath: old.path) else { continue }
            try Durable.rename(old, to: folder.root.appending(path: name + suffix))
        }
        return name
    }

    /// Lists the files whose files have the size that their documents state; the digests are for `verify(deep:)`.
    private static func rebuild(_ folder: StoreFolder, into database: StoreDatabase, _ report: inout Report) throws {
        let found = StoreScan.units(folder)
        report.refused = found.refused.sorted()
        report.units = found.files.count
        var changes: [Change] = []
        var sequences: [String: UInt64] = [:]
        var settings = StoreSettings()
        // Older versions first, so that the newest is current at the end.
        let sorted = found.files.sorted { ($0.version, $0.path) < ($1.version, $1.path) }
        for (number, var installed) in sorted.enumerated() {
            let isNewest = !sorted[(number + 1)...].contains { $0.id.key == installed.id.key }
            (installed.state, installed.order) = (isNewest ? .current : .previous, settings.nextOrder)
            settings.nextOrder += 1
            changes += [
                .file(installed), .hold(Hold(key: installed.id.key, item: holder(of: installed.item, in: sorted))),
            ]
        }
        for (source, number) in found.sequences { sequences[source] = max(sequences[source] ?? 0, number) }
        changes += sequences.sorted { $0.key < $1.key }.map { .sequence($0.key, $0.value) }
        changes.append(.settings(settings))
        try database.apply(changes)
    }

    /// A data group or a companion belongs to the package of the base map, where that is installed.
    private static func holder(of item: Item, in units: [InstalledFile]) -> Item {
        guard case .package(let id, let edition, let format) = item, edition.group != nil else { return item }
        if item.isCompanion {
            let map = units.map(\.item).filter { $0.isMap(id) }.min { $0.key < $1.key }
            return map ?? item
        }
        let base = Item.package(id, Edition(language: edition.language), format)
        return units.contains { $0.item == base } ? base : item
    }
}
