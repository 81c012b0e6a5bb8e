internal import Foundation
internal import GRDB

/// `store.sqlite`: what is installed, wanted and held.
///
/// Several processes open it. Each call is one transaction; a transaction that ended survives a power cut.
final class StoreDatabase: Sendable {
    private let queue: ClosableQueue
    /// Whether a newer version of the library wrote it: then it is only read.
    let isNewer: Bool

    private init(_ queue: DatabaseQueue, isNewer: Bool) {
        self.queue = ClosableQueue(queue)
        self.isNewer = isNewer
    }

    /// Opens the database of a folder and makes its tables where they are missing.
    ///
    /// - Parameter isWorker: Whether this process holds the lock: then the pages are checked, and a damaged database is
    ///   reported as such. A reader finds damage when it reads a damaged page.
    /// - Throws: ``Damage``; `DatabaseError` for a locked or unreadable file or a full disk.
    static func open(_ folder: StoreFolder, isWorker: Bool) throws -> StoreDatabase {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF")
            _ = try String.fetchOne(database, sql: "PRAGMA journal_mode = PERSIST")
        }
        do {
            let queue = try DatabaseQueue(path: folder.database.path, configuration: configuration)
            let migrator = StoreSchema.migrator
            let (isMade, isNewer) = try queue.read {
                (try migrator.hasCompletedMigrations($0), try migrator.hasBeenSuperseded($0))
            }
            if !isMade, !isNewer { try migrate(queue, migrator) }
            if isWorker {
                let verdict = try queue.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
                guard verdict == "ok" else { throw Damage(text: verdict ?? "no verdict") }
            }
            return StoreDatabase(queue, isNewer: isNewer)
        } catch let error as DatabaseError where Damage.codes.contains(error.resultCode) {
            throw Damage(text: error.message ?? "SQLite error \(error.resultCode.rawValue)")
        }
    }

    /// Makes the tables; another process may make them at the same time.
    private static func migrate(_ queue: DatabaseQueue, _ migrator: DatabaseMigrator) throws {
        do { try migrator.migrate(queue) } catch {
            guard try queue.read({ try migrator.hasCompletedMigrations($0) }) else { throw error }
        }
    }

    /// Why a database cannot be used any more.
    struct Damage: Error {
        static let codes: [ResultCode] = [.SQLITE_CORRUPT, .SQLITE_NOTADB]
        let text: String
    }

    /// Whether no process has worked with it yet: the first one writes its settings before it changes files.
    func isBlank() throws -> Bool {
        try read { database in
            let rows = [
                "setting WHERE name IN ('options', 'settings')", "installed_file", "hold", "task", "region",
            ]
            let query = rows.map { "EXISTS (SELECT 1 FROM \($0))" }.joined(separator: " OR ")
            return try Bool.fetchOne(database, sql: "SELECT \(query)") == false
        }
    }

    /// Closes the file; every later call fails.
    func close() throws { try queue.close() }

    /// A number that changes when another process has changed the database.
    func dataVersion() throws -> Int { try read { try Int.fetchOne($0, sql: "PRAGMA data_version") ?? 0 } }

    /// Reads in one transaction.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try naming { try queue.read(body) }
    }

    /// Changes in one transaction.
    func write<Result>(_ body: (Database) throws -> Result) throws -> Result {
        guard !isNewer else {
            throw StoreError(
                .newerStore, "A newer version of this library wrote the store; it is only read.",
                advice: "Update the app.")
        }
        return try naming { try queue.write(body) }
    }

    /// Gives damage and a full disk their own errors.
    private func naming<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch is ClosableQueue.Closed {
            throw StoreWorker.isClosed
        } catch is RowDecodingError {
            throw Damage(text: "a row has a value of another type")
        } catch let error as DatabaseError {
            if Damage.codes.contains(error.resultCode) {
                throw Damage(text: error.message ?? "SQLite error \(error.resultCode.rawValue)")
            }
            let isFull = error.resultCode == .SQLITE_FULL
            throw StoreError(
                isFull ? .diskFull : .storage,
                "The database of the store cannot be used: \(error.message ?? "error \(error.resultCode.rawValue)").",
                cause: error, isRetriable: isFull || error.resultCode == .SQLITE_BUSY)
        }
    }
}
