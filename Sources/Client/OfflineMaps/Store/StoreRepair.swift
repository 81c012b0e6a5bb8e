internal import Errors
internal import Files
internal import Foundation
internal import GRDB

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

    /// Lists the units whose files have the size that their documents state; the digests are for `verify(deep:)`.
    private static func rebuild(_ folder: StoreFolder, into database: StoreDatabase, _ report: inout Report) throws {
        var units: [Item: [UnitRow]] = [:]
        var known = KnownSequences()
        let files = FileManager.default.enumerator(atPath: folder.units.path)
        while let path = files?.nextObject() as? String {
            let url = folder.units.appending(path: path)
            let inner = url.deletingLastPathComponent()
            guard url.lastPathComponent == UnitDocument.name, !inner.lastPathComponent.hasSuffix(".new") else {
                continue
            }
            guard let document = UnitDocument.read(url),
                let place = folder.relative(inner.appending(path: document.file)),
                let size = (try? FileDescriptor(reading: inner.appending(path: document.file)))?.size,
                size == document.bytes, let unit = document.record(path: place)
            else {
                report.refused.append(folder.relative(url) ?? path)
                continue
            }
            units[unit.item, default: []].append(unit)
            if let sequence = document.sequence {
                if let address = document.address {
                    known.byAddress[address] = max(known.byAddress[address] ?? sequence, sequence)
                }
                if let key = document.key { known.byKey[key] = max(known.byKey[key] ?? sequence, sequence) }
            }
        }
        report.refused.sort()
        report.units = units.values.reduce(0) { $0 + $1.count }
        let all = units.values.flatMap { $0.sorted { ($0.version, $0.path) < ($1.version, $1.path) } }
            .sorted { $0.version < $1.version }
        // Older versions first, so that the newest is current at the end.
        try database.swap(all, keeping: 2)
        try database.note(known)
    }
}

extension StoreDatabase {
    /// Raises sequences to the given ones.
    func note(_ known: KnownSequences) throws {
        try write { database in
            for (kind, sequences) in [known.byAddress, known.byKey].enumerated() {
                for (name, sequence) in sequences {
                    try database.execute(
                        sql: """
                            INSERT INTO catalog (kind, name, sequence) VALUES (?, ?, ?) ON CONFLICT (kind, name)
                            DO UPDATE SET sequence = max(ifnull(sequence, excluded.sequence), excluded.sequence)
                            """, arguments: [kind, name, sequence])
                }
            }
        }
    }
}
