import Errors
import Files
import Foundation
import GRDB

extension StateStore {
    /// Pages that one slice of a backup copies: 1 MiB, about a millisecond of the connection.
    static let backupPages: Int32 = 256

    /// Writes a compact copy of the state into the folder, under a free name.
    ///
    /// Changes are committed meanwhile: the connection copies one slice at a time. The copy is compacted and flushed
    /// outside of the connection's queue.
    ///
    /// - Parameters:
    ///   - name: Letters, digits, `-`, `_` and `.`; empty = the date and time (UTC), with `-2` and so on when that is
    ///     taken.
    ///   - wall: Wall time for the default name.
    ///   - pages: Pages of one slice.
    /// - Throws: ``CoordinatorError`` `backup-name`, `backup-exists`; `CancellationError` after ``stopBackups()``; what
    ///   SQLite throws.
    func backUp(
        named name: String, into folder: URL, wall: Int64, pages: Int32 = StateStore.backupPages
    ) async throws -> URL {
        let stem = name.isEmpty ? Self.free(Self.stamp(wall), in: folder) : name
        guard stem.utf8.count <= 100, !stem.hasPrefix("."),
            stem.utf8.allSatisfy({
                ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A || (0x30...0x39).contains($0) || "-_.".utf8.contains($0)
            })
        else {
            throw CoordinatorError(
                .backupName,
                "'\(stem.prefix(100))' is not a valid backup name. Use 1 to 100 letters, digits and -_. characters.")
        }
        let file = folder.appending(path: "\(stem).sqlite")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        guard !FileManager.default.fileExists(atPath: file.path) else {
            throw CoordinatorError(.backupExists, "The backup '\(file.path)' exists already. Choose another name.")
        }
        let draft = folder.appending(path: ".\(stem).\(UInt64.random(in: 0 ... .max)).draft")
        let copy = URL(filePath: draft.path + ".pages")
        defer {
            // Best effort: these files are hidden and never mistaken for a backup.
            for suffix in ["", "-journal", "-wal", "-shm"] {
                // Most of these files do not exist.
                try? FileManager.default.removeItem(atPath: copy.path + suffix)
            }
        }
        do {
            try await copyPages(into: copy, pages)
            try await FileWork.run {
                let compact = try DatabaseQueue(path: copy.path)
                try compact.writeWithoutTransaction { db in
                    try db.execute(sql: "VACUUM INTO ?", arguments: [draft.path])
                }
                try compact.close()
                let handle = try FileHandle(forWritingTo: draft)
                try handle.synchronize()
                try handle.close()
                try FileManager.default.moveItem(at: draft, to: file)
            }
        } catch {
            // Best effort: a draft that is not removed is hidden and never mistaken for a backup.
            try? FileManager.default.removeItem(at: draft)
            throw error
        }
        return file
    }

    /// The folder of backups.
    static func backupFolder(of data: URL) -> URL { data.appending(path: "backups") }

    /// When the newest backup of a folder was made, in milliseconds since 1970; `nil` = the folder has no backup.
    static func newestBackup(in folder: URL) -> Int64? {
        // Without a backup there is no folder.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let times = names.filter { $0.hasSuffix(".sqlite") && !$0.hasPrefix(".") }.compactMap { name -> Int64? in
            var status = stat()
            guard stat(folder.appending(path: name).path, &status) == 0 else { return nil }
            return Int64(status.st_mtim.tv_sec) * 1_000
        }
        return times.max()
    }

    /// How many rows were changed since the file was opened: two equal numbers = nothing has changed between them.
    func changes() async throws -> Int { try await performOutsideTransaction { db in db.totalChangesCount } }

    /// Copies all pages of the state file as they are at the end of the copy.
    ///
    /// - Parameter isLast: Whether it goes on after ``stopBackups()``.
    func copyPages(into file: URL, _ pages: Int32, isLast: Bool = false) async throws {
        let copy = try await performOutsideTransaction { db in try OnlineBackup(of: db, into: file) }
        do {
            while try await !performOutsideTransaction({ _ in try copy.copy(pages: pages) }) {
                if Task.isCancelled || isStoppingBackups && !isLast { throw CancellationError() }
            }
            try await performOutsideTransaction { _ in copy.close() }
        } catch {
            try await performOutsideTransaction { _ in copy.close() }
            throw error
        }
    }

    /// The name, or the name with the first number from 2 on that is not taken.
    private static func free(_ stem: String, in folder: URL) -> String {
        var (name, number) = (stem, 1)
        while FileManager.default.fileExists(atPath: folder.appending(path: "\(name).sqlite").path) {
            number += 1
            name = "\(stem)-\(number)"
        }
        return name
    }

    private static func stamp(_ wall: Int64) -> String {
        let seconds = TimeInterval(wall) / 1_000
        return "state-"
            + Date(timeIntervalSince1970: seconds).ISO8601Format(
                .init(dateSeparator: .omitted, timeSeparator: .omitted))
    }
}
