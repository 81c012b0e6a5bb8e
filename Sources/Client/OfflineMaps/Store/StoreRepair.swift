internal import Errors
internal import Files
internal import Foundation

/// Makes the database of a store again from its unit files, when it is damaged, missing or empty.
///
/// Cleaning removes what no row names, so a database without rows must never meet installed files: whatever became of its
/// file, a blank one is filled from them first. This also continues a rebuild that was interrupted.
enum StoreRepair {
    /// What a repair found.
    struct Report: Sendable, Hashable {
        /// The name of the damaged database, which is kept; `nil` when there was none.
        var setAside: String?
        /// Units that are listed again.
        var units = 0
        /// Paths of unit files that do not describe their file.
        var refused: [String] = []
    }

    /// Opens the database; a damaged one is set aside and made again, and a blank one is filled when files are installed.
    ///
    /// Only for the process that holds the lock. The tasks of a damaged database are lost.
    ///
    /// - Returns: The database, and what was repaired; `nil` when nothing was.
    /// - Throws: ``StoreError`` `storage`, `disk-full`; `folder` when it is not known whether files are installed.
    static func open(_ folder: StoreFolder) throws -> (database: StoreDatabase, report: Report?) {
        var report = Report()
        // A journal that lies there without its database belongs to no new one.
        if isLost(folder.database), try StoreScan.hasInstalled(folder) { report.setAside = try setAside(folder) }
        let database: StoreDatabase
        do { database = try StoreDatabase.open(folder, isWorker: true) } catch is StoreDatabase.Damage {
            report.setAside = try setAside(folder)
            database = try StoreDatabase.open(folder, isWorker: true)
        }
        guard try !database.isNewer && database.isBlank(), try StoreScan.hasInstalled(folder) else {
            return (database, report.setAside == nil ? nil : report)
        }
        try rebuild(folder, into: database, &report)
        return (database, report)
    }

    /// Whether there is no file, or one without a byte.
    private static func isLost(_ file: URL) -> Bool {
        var status = stat()
        guard stat(file.path, &status) == 0 else { return errno == ENOENT }
        return status.st_mode & S_IFMT == S_IFREG && status.st_size == 0
    }

    /// Renames the database and its journal, so that a person can look at them.
    ///
    /// - Returns: The new name; `nil` when there is none of these files.
    private static func setAside(_ folder: StoreFolder) throws -> String? {
        // The journal first: a journal without its database must never be applied to the new one.
        let suffixes = ["-journal", "-wal", "-shm", ""]
        func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
        let old = suffixes.filter { isThere(folder.database.path + $0) }
        guard !old.isEmpty else { return nil }
        var number = 1
        var name = "store.sqlite.damaged"
        while suffixes.contains(where: { isThere(folder.root.appending(path: name + $0).path) }) {
            number += 1
            name = "store.sqlite.damaged-\(number)"
        }
        for suffix in old {
            try Durable.rename(
                URL(filePath: folder.database.path + suffix), to: folder.root.appending(path: name + suffix))
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
