import Catalog
import Errors
public import Foundation
import GRDB
import Scheduling
import StateBackups
import Wire

/// The state file of a coordinator that is not running: checks it, and restores it from a backup.
public enum StateFile {
    /// The result of a check.
    public struct Report: Sendable, Encodable {
        /// Jobs in the file.
        public let jobs: Int
        /// Summaries of forgotten jobs.
        public let forgotten: Int
        /// Lines of the event log.
        public let events: Int
        /// The problems found; empty = none.
        public let problems: [String]
    }

    /// The increase of a restored state's epoch.
    ///
    /// No token that was granted after the backup was made can be granted again.
    public static let epochJump: Int64 = 1_000

    /// Reads everything, replays the event log from its start and compares the results.
    ///
    /// Uses one epoch, as every opening does.
    ///
    /// - Throws: ``CoordinatorError`` when the file is in use, damaged, or missing.
    public static func check(_ folder: URL) async throws -> Report {
        let file = folder.appending(path: "state.sqlite")
        try requireState(file)
        let store = try StateStore(folder: folder, mayBeNew: false)
        do {
            let kept = try await store.load(withEnded: true)
            let replayed = try await store.replay()
            let events = try await store.perform { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM event") ?? 0 }
            let history = try await store.historyProblems()
            await store.close()
            var problems = differences(kept.jobs, replayed) + history.problems
            if kept.operatorLimits != replayed.operatorLimits {
                problems.append("the operator limits of origins differ from the log")
            }
            return Report(jobs: kept.jobs.count, forgotten: history.count, events: events, problems: problems)
        } catch {
            await store.close()
            throw error
        }
    }

    /// Replaces the state with a backup.
    ///
    /// An existing state is renamed and never removed.
    ///
    /// - Returns: The new location of the former state, or `nil` when there was none.
    /// - Throws: ``CoordinatorError``; nothing has changed then.
    public static func restore(_ backup: URL, into folder: URL) async throws -> URL? {
        guard FileManager.default.fileExists(atPath: backup.path) else {
            throw CoordinatorError(
                .missing, "The backup '\(backup.path)' does not exist.",
                hint: "backups of 'packhorse backup' are in the folder 'backups' of the data folder")
        }
        return try await replace(in: folder, named: backup.path) { draft in
            do { try FileManager.default.copyItem(at: backup, to: draft) } catch {
                throw CoordinatorError(
                    .cannotOpen,
                    "Cannot copy the backup '\(backup.path)' into '\(folder.path)': \(error.localizedDescription) Nothing was changed.",
                    cause: error)
            }
            return 0
        }
    }

    /// Replaces the state with what `fill` writes.
    ///
    /// - Parameters:
    ///   - backup: Names the backup in errors.
    ///   - fill: Writes the state file, and returns an epoch below which no coordinator may start.
    static func replace(
        in folder: URL, named backup: String, _ fill: (URL) async throws -> UInt32
    ) async throws -> URL? {
        let draftFolder = folder.appending(path: ".restore-\(UInt64.random(in: 0 ... .max))")
        let isNew = !FileManager.default.fileExists(atPath: folder.path)
        defer {
            // A hidden folder that stays is never mistaken for the state.
            try? FileManager.default.removeItem(at: draftFolder)
            // Removes only an empty folder: one that was made for a state that was not copied.
            if isNew { rmdir(folder.path) }
        }
        let draft = draftFolder.appending(path: "state.sqlite")
        do {
            try FileManager.default.createDirectory(at: draftFolder, withIntermediateDirectories: true)
        } catch {
            throw CoordinatorError(
                .cannotOpen, "Cannot write into '\(folder.path)': \(error.localizedDescription) Nothing was changed.",
                cause: error)
        }
        let known = Int64(try await fill(draft))
        let store = try open(draft, copiedFrom: backup)
        let file = folder.appending(path: "state.sqlite")
        let exists = FileManager.default.fileExists(atPath: file.path)
        // Opening the state proves that no coordinator uses it, and merges its write-ahead log.
        let present: UInt32
        do { present = exists ? try await mergeWriteAheadLog(of: folder) : 0 } catch {
            await store.close()
            throw error
        }
        let claimed = Self.claimed(in: folder, lineage: store.lineage)
        try await store.perform { db in
            try db.execute(
                sql: "UPDATE meta SET value = max(value, ?, ?, ?) + ? WHERE key = 'epoch'",
                arguments: [known, Int64(present), claimed, epochJump])
        }
        await store.close()
        // A log that was left without its database would be replayed into the restored one.
        let hasParts = Self.parts.contains { FileManager.default.fileExists(atPath: file.path + $0) }
        let former = hasParts ? try setAside(file) : nil
        try FileManager.default.moveItem(at: draft, to: file)
        return former
    }

    /// The highest epoch that has claimed the catalog and the blobs in a data folder; 0 for none.
    ///
    /// They were copied there: a backup that is restored a second time would have a lower epoch than the run after the first time.
    private static func claimed(in folder: URL, lineage: UInt64) -> Int64 {
        let files = [
            Catalog.lockFile(in: folder.appending(path: "catalog")),
            folder.appending(path: "blobs").appending(path: ClaimFile.blobsName),
        ]
        return files.compactMap(ClaimFile.read).filter { $0.lineage == lineage }.map { Int64($0.epoch) }.max() ?? 0
    }

    /// Opens, checks and migrates the copy, so that a damaged backup replaces nothing.
    ///
    /// Errors name the backup.
    private static func open(_ draft: URL, copiedFrom backup: String) throws(CoordinatorError) -> StateStore {
        let useless =
            "The backup '\(backup)' is damaged or not a state file. Nothing was changed. Use another backup."
        do {
            let isState = try DatabaseQueue(path: draft.path).read { db in
                try db.tableExists("meta") && db.tableExists("job")
            }
            // Without this check another program's database would get our tables and look like an empty state.
            guard isState else { throw CoordinatorError(.damagedState, useless) }
        } catch let error as CoordinatorError {
            throw error
        } catch let error as DatabaseError where [.SQLITE_NOTADB, .SQLITE_CORRUPT].contains(error.resultCode) {
            throw CoordinatorError(.damagedState, useless, cause: error)
        } catch {
            throw CoordinatorError(
                .cannotOpen, "The backup '\(backup)' cannot be read: \(error). Nothing was changed.", cause: error)
        }
        do throws(CoordinatorError) {
            return try StateStore(folder: draft.deletingLastPathComponent())
        } catch {
            let text =
                error.code == .damagedState
                ? useless : error.message.replacingOccurrences(of: draft.path, with: backup)
            throw CoordinatorError(error.code, text, cause: error)
        }
    }

    /// Proves that no coordinator uses the state and moves its write-ahead log into it.
    ///
    /// A damaged state is left unchanged.
    ///
    /// - Returns: Its epoch; 0 of a damaged one.
    private static func mergeWriteAheadLog(of folder: URL) async throws(CoordinatorError) -> UInt32 {
        do throws(CoordinatorError) {
            let store = try StateStore(folder: folder)
            await store.close()
            return store.epoch
        } catch {
            guard error.code == .damagedState else { throw error }
            return 0
        }
    }

    /// What SQLite adds to the name of a database for its files.
    private static let parts = ["", "-wal", "-shm", "-journal"]

    private static func setAside(_ file: URL) throws -> URL {
        let stamp = Date().ISO8601Format(.init(dateSeparator: .omitted, timeSeparator: .omitted))
        let folder = file.deletingLastPathComponent()
        var aside = folder.appending(path: "state-before-restore-\(stamp).sqlite")
        var number = 1
        while FileManager.default.fileExists(atPath: aside.path) {
            number += 1
            aside = folder.appending(path: "state-before-restore-\(stamp)-\(number).sqlite")
        }
        for suffix in parts {
            let part = URL(filePath: file.path + suffix)
            guard FileManager.default.fileExists(atPath: part.path) else { continue }
            try FileManager.default.moveItem(at: part, to: URL(filePath: aside.path + suffix))
        }
        return aside
    }

    /// Refuses a folder without a state.
    private static func requireState(_ file: URL) throws(CoordinatorError) {
        guard !FileManager.default.fileExists(atPath: file.path) else { return }
        let folder = file.deletingLastPathComponent().path
        let hint = "give --data the folder that 'packhorse coordinator --data' was started with"
        guard FileManager.default.fileExists(atPath: folder) else {
            throw CoordinatorError(.missing, "The data folder '\(folder)' does not exist.", hint: hint)
        }
        throw CoordinatorError(
            .missing, "The state file '\(file.path)' does not exist: no coordinator has used this folder.", hint: hint)
    }

    /// The differences between the state and the replayed log, one line each.
    static func differences(_ kept: [StoredJob], _ replayed: StoredState) -> [String] {
        var found: [String] = []
        let replayedJobs = Dictionary(replayed.jobs.map { ($0.summary.id, $0) }) { first, _ in first }
        for job in kept {
            let id = job.summary.id
            guard let replay = replayedJobs[id] else {
                found.append("job \(id) is in the state but not in the event log")
                continue
            }
            if replay.summary != job.summary {
                found.append("job \(id): the log ends with \(replay.summary), the state has \(job.summary)")
            }
            if replay.packages != job.packages { found.append("job \(id): its packages differ from the log") }
            // Of a job whose blobs are gone only dead batches are kept.
            if !job.summary.state.isFinal, replay.batches != job.batches {
                found.append("job \(id): its batches differ from the log")
            }
        }
        let known = Set(kept.map(\.summary.id))
        found += replayed.jobs.map(\.summary.id).filter { !known.contains($0) }.map {
            "job \($0) is in the event log but not in the state"
        }
        return found
    }
}
