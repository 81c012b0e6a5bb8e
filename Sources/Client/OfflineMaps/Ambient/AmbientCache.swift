internal import Foundation
internal import GRDB
internal import Synchronization
internal import Tiles

/// What was viewed, in a file of its own: the least recently used resources go first.
///
/// No call fails: a damaged file is removed and made again, and what cannot be kept is not kept. Calls read and write
/// the disk on the calling thread. Several processes may use one file.
final class AmbientCache: Sendable {
    private struct State {
        var database: AmbientDatabase?
        var limit: UInt64
    }

    private let file: URL
    private let state: Mutex<State>

    /// Uses the file of a folder; it is made with the first resource.
    ///
    /// - Parameter limit: The most bytes; 0 turns the cache off.
    init(_ folder: StoreFolder, limit: UInt64) {
        file = folder.ambient
        state = Mutex(State(limit: limit))
    }

    deinit { close() }

    /// The resource of an address; `nil` when it is not here.
    func entry(_ address: String) -> AmbientEntry? {
        use { (database) throws -> AmbientEntry? in try database.entry(address) } ?? nil
    }

    /// The tile of a tileset, from the address that was used last; `nil` when it is not here.
    func entry(_ place: AmbientEntry.Place) -> AmbientEntry? {
        use { (database) throws -> AmbientEntry? in try database.entry(place) } ?? nil
    }

    /// Keeps a resource in place of what was known of its address.
    ///
    /// - Returns: Whether it is kept: not while the cache is off, and not a body of more than half of the limit.
    @discardableResult func insert(_ entry: AmbientEntry) -> Bool {
        let limit = state.withLock { $0.limit }
        guard UInt64(entry.body?.count ?? 0) <= limit / 2 else {
            // What was known of the address is older than this.
            use { try $0.remove(entry.address) }
            return false
        }
        return use(makes: true) { try $0.insert(entry, limit: limit) } != nil
    }

    /// Makes everything stale, or the tiles of one tileset.
    func expire(tileset: String? = nil) { use { try $0.expire(tileset: tileset) } }

    /// Removes everything; the space is free when the call returns.
    func clear() {
        state.withLock { state in
            state.database?.abandon()
            state.database = nil
            removeFiles()
        }
    }

    /// Sets the most bytes, and removes what is beyond them; 0 turns the cache off and removes everything.
    func setLimit(_ limit: UInt64) {
        let old = state.withLock { state in
            defer { state.limit = limit }
            return state.limit
        }
        if limit == old { return }
        if limit == 0 { clear() } else if limit < old { use { try $0.shrink(to: limit) } }
    }

    /// Closes the file, as an app does before it is suspended; the next use opens it again.
    func close() {
        let database = state.withLock { state in
            defer { state.database = nil }
            return state.database
        }
        database?.close()
    }

    /// The bytes on disk.
    var bytes: UInt64 {
        files.reduce(0) { sum, file in
            // A file that is not there has no bytes.
            let size = try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? UInt64
            return sum + (size ?? 0)
        }
    }

    // MARK: - The file

    /// The database and what SQLite keeps next to it.
    private var files: [URL] { ["", "-wal", "-shm"].map { URL(filePath: file.path + $0) } }

    /// Runs `body`, a second time with an empty file when the file is damaged.
    ///
    /// - Parameter makes: Whether a file that is not there is made.
    /// - Returns: `nil` when there is no file, and when it failed: the disk is full, the folder cannot be written, or another process holds the file.
    @discardableResult private func use<Result>(
        makes: Bool = false, _ body: (AmbientDatabase) throws -> Result
    ) -> Result? {
        for _ in 0..<2 {
            var used: AmbientDatabase?
            do {
                guard let database = try opened(makes) else { return nil }
                used = database
                return try body(database)
            } catch is ClosableQueue.Closed {
                // Another thread has cleared or closed the cache meanwhile.
                continue
            } catch {
                guard Self.isDamage(error) else { return nil }
                state.withLock { state in
                    // Another thread may have made the file again already.
                    guard state.database === used else { return }
                    state.database?.abandon()
                    state.database = nil
                    removeFiles()
                }
            }
        }
        return nil
    }

    /// The database of the file that is in place; `nil` while the cache is off, and where there is no file.
    private func opened(_ makes: Bool) throws -> AmbientDatabase? {
        try state.withLock { state in
            guard state.limit > 0 else { return nil }
            if let database = state.database {
                if database.isInPlace { return database }
                database.abandon()
                state.database = nil
            }
            guard makes || access(file.path, F_OK) == 0 else { return nil }
            let database = try AmbientLock.hold(file) { try AmbientDatabase(file) }
            state.database = database
            return database
        }
    }

    private func removeFiles() {
        AmbientLock.hold(file) {
            // A file that cannot be removed is opened again, and then fails again.
            for file in files { unlink(file.path) }
        }
    }

    private static func isDamage(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else {
            return error is AmbientDatabase.Unusable || error is RowDecodingError
        }
        // All statements are constant, so a statement that SQLite refuses has found other tables.
        return [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_MISMATCH].contains(error.resultCode)
    }
}

/// Lets one process at a time open or remove the file: else one could remove the side files of another's new database.
private enum AmbientLock {
    static func hold<Result>(_ file: URL, _ body: () throws -> Result) rethrows -> Result {
        let handle = open(file.path + "-lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        // Without the lock, for example on a disk that cannot be written, SQLite itself keeps the file whole.
        if handle >= 0 { while flock(handle, LOCK_EX) != 0, errno == EINTR {} }
        defer { if handle >= 0 { Foundation.close(handle) } }
        return try body()
    }
}
