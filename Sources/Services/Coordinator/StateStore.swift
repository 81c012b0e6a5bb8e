import Dispatch
import Errors
import Files
import Foundation
import GRDB
import Scheduling
import Synchronization

/// The coordinator's state in one SQLite file: one connection, owned by one queue, exclusive.
///
/// Every change is a transaction that is on disk (`synchronous=FULL`) before ``apply(_:wall:)`` returns. No command opens the file while a coordinator runs.
/// One connection only, because SQLite 3.7.0–3.51.2 can corrupt a WAL that two connections reset at once (fixed in 3.51.3;
/// docs/decisions/0019-scheduler-is-a-value.md).
final class StateStore: Sendable {
    private let database: DatabaseQueue
    private let queue = DispatchQueue(label: "packhorse.coordinator.state")
    private let stopsBackups = Atomic(false)
    private let damage = Mutex<CoordinatorError?>(nil)
    /// The state file.
    let file: URL
    /// The epoch of this run; durable.
    let epoch: UInt32
    /// A random number that the state got when it was made, and that its backups have too.
    let lineage: UInt64

    /// Opens or creates the file, checks it, and makes a new epoch durable.
    ///
    /// - Parameter mayBeNew: Whether a file without a state is accepted, and a missing one created.
    /// - Throws: ``CoordinatorError`` `data-in-use`, `damaged-state`, `newer-state`, `unreleased-state`,
    ///   `cannot-open`.
    init(folder: URL, mayBeNew: Bool = true) throws(CoordinatorError) {
        let file = folder.appendingPathComponent("state.sqlite")
        self.file = file
        do {
            do throws(StorageError) { try Durable.makeFolder(folder) } catch {
                throw CoordinatorError(
                    .cannotOpen, "\(error.message) Give --data an existing folder or one that can be created.",
                    cause: error)
            }
            try StateStore.refuseEmptied(file)
            if let kind = NetworkFolder.name(of: folder) {
                throw CoordinatorError(
                    .cannotOpen,
                    "'\(folder.path)' is on \(kind), whose locks SQLite cannot rely on. Give --data a folder on a local disk."
                        + " Only the blobs and the catalog may be on a network file system.")
            }
            var configuration = Configuration()
            configuration.label = "packhorse.state"
            configuration.foreignKeysEnabled = true
            configuration.prepareDatabase { db in
                // The exclusive mode is set first: then WAL needs no -shm file, and no other process can read the file.
                try db.execute(sql: "PRAGMA locking_mode=EXCLUSIVE")
                // A file of another program stays as it is.
                try StateStore.requireState(file, mayBeNew: mayBeNew, db)
                try db.execute(sql: "PRAGMA journal_mode=WAL")
                try db.execute(sql: "PRAGMA synchronous=FULL")
                try db.execute(sql: "PRAGMA trusted_schema=OFF")
                try db.execute(sql: "PRAGMA wal_autocheckpoint=1000")
            }
            database = try DatabaseQueue(path: file.path, configuration: configuration)
            let found = try database.inDatabase { db in
                try db.inTransaction(.exclusive) { .commit }
                return try String.fetchOne(db, sql: "PRAGMA quick_check(1)") ?? "no answer"
            }
            guard found == "ok" else { throw StateStore.damaged(file, found) }
            let migrator = StateStore.migrator
            try database.inDatabase { db in
                if let error = try StateStore.refusal(of: file, migrator, db) { throw error }
            }
            try migrator.migrate(database)
            (epoch, lineage) = try database.write { db in
                try db.execute(sql: "UPDATE meta SET value = value + 1 WHERE key = 'epoch'")
                try db.execute(
                    sql: "INSERT OR IGNORE INTO meta VALUES ('lineage', ?)",
                    arguments: [Int64.random(in: .min ... .max)])
                let values = try ["epoch", "lineage"].map { key in
                    try Int64.fetchOne(db, sql: "SELECT value FROM meta WHERE key = ?", arguments: [key]) ?? 1
                }
                return (UInt32(clamping: values[0]), UInt64(bitPattern: values[1]))
            }
            // The failed start of another coordinator removes its new file after it has closed it.
            guard FileManager.default.fileExists(atPath: file.path) else {
                throw CoordinatorError(
                    .dataInUse, "The state file '\(file.path)' was just removed by another coordinator. Start again.")
            }
        } catch let error as CoordinatorError {
            throw error
        } catch {
            throw StateStore.damage(file, error) ?? StateStore.unreadable(file, error)
        }
    }

    /// Why this build cannot use the tables of the file, or `nil`.
    private static func refusal(
        of file: URL, _ migrator: DatabaseMigrator, _ db: Database
    ) throws -> CoordinatorError? {
        guard try migrator.hasBeenSuperseded(db) else { return nil }
        // A flipped bit in the name of a migration looks like another version. Only the check of its index shows it.
        let names = try String.fetchOne(db, sql: "PRAGMA integrity_check('grdb_migrations')")
        if let names, names != "ok" { return damaged(file, names) }
        guard try migrator.appliedIdentifiers(db).contains(firstMigration) else {
            return CoordinatorError(
                .unreleasedState,
                "The state file '\(file.path)' was written by an unreleased build before 0.1.0, and this build cannot read it."
                    + " Finish its jobs with that build if you need them, then move the file away to start with an empty state; the catalog stays valid."
            )
        }
        return CoordinatorError(
            .newerState,
            "The state file '\(file.path)' was written by a newer packhorse. Upgrade this installation.")
    }

    /// Whether waiting may resolve the error: a full disk, a failing disk, no memory.
    static func mayHeal(_ error: any Error) -> Bool {
        guard let code = (error as? DatabaseError)?.resultCode else { return false }
        return [.SQLITE_FULL, .SQLITE_IOERR, .SQLITE_NOMEM, .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_BUSY].contains(
            code)
    }

    /// Why the file cannot be written, for people; the error is one that may heal.
    static func unwritable(_ error: any Error) -> String {
        let error = error as? DatabaseError
        return error?.resultCode == .SQLITE_FULL ? "its disk is full" : error?.message ?? "its disk does not answer"
    }

    /// Runs `body` in one transaction on the store's own queue.
    ///
    /// The changes are durable when it returns, and undone when it throws.
    func perform<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.noting { try self.database.write(body) } }) }
        }
    }

    /// Runs `body` on the store's own queue outside of any transaction.
    func performOutsideTransaction<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(
                    with: Result { try self.noting { try self.database.writeWithoutTransaction(body) } })
            }
        }
    }

    /// The damage of the file that a reader has met; `nil` = none so far.
    var foundDamage: CoordinatorError? { damage.withLock { $0 } }

    /// Keeps the first damage that is found.
    func keep(_ found: CoordinatorError) { damage.withLock { $0 = $0 ?? found } }

    /// Ends running backups soon, so that the coordinator can stop.
    func stopBackups() { stopsBackups.store(true, ordering: .relaxed) }

    var isStoppingBackups: Bool { stopsBackups.load(ordering: .relaxed) }

    /// Makes all writes durable in one transaction.
    ///
    /// - Parameters:
    ///   - holders: The sessions that may hold shares from now on; `nil` = unchanged.
    ///   - wall: Wall time for display, in milliseconds since 1970.
    /// - Returns: The number of the last line of the event log that this added; `nil` without writes.
    @discardableResult
    func apply(_ writes: [StoreWrite], holders: ShareHolders? = nil, wall: Int64) async throws -> Int64? {
        let epoch = epoch
        return try await perform { db in
            if let holders { try StateStore.replaceHolders(holders, epoch: epoch, db) }
            for write in writes { try StateStore.applyAndLog(write, db, wall: wall) }
            // A write ends with the insertion of its line.
            return writes.isEmpty ? nil : db.lastInsertedRowID
        }
    }

    /// Applies a write and adds its line to the event log, inside the caller's transaction.
    static func applyAndLog(_ write: StoreWrite, _ db: Database, wall: Int64) throws {
        let notification = try notification(of: write, db)
        try apply(write, db, wall: wall)
        try recordStart(write, db, wall: wall)
        try log(write, notification: notification, db, wall: wall)
    }

    /// Closes the file, and removes it when this run created it and changed nothing since.
    func closeAndRemoveIfNew() {
        queue.sync {
            let path = database.path
            // The file is removed, or the next start reads it again.
            try? database.close()
            // Each opening raises the epoch: the first run is the one that created the file.
            guard epoch == 1 else { return }
            for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
        }
    }

    /// Moves all data into the main file and closes it.
    func close() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            queue.async { [database] in
                // A failed checkpoint loses nothing: the WAL is read at the next start.
                _ = try? database.writeWithoutTransaction { db in try db.checkpoint(.truncate) }
                // The process ends; the next start reads the WAL.
                try? database.close()
                continuation.resume()
            }
        }
    }
}
