import Errors
import Files
import Foundation
import StateBackups
import Synchronization

/// Makes the backups of one run, and knows whether this coordinator was replaced by one that was restored from them.
///
/// Rounds are run one at a time.
final class StateBackups: Sendable {
    let every: Duration
    /// How a user names the place.
    let place: String
    private let placeGuard: PlaceGuard
    private let writer: BackupWriter
    private let store: StateStore
    private let folder: URL
    /// How long an answer of the place counts before the next change of what two coordinators share.
    private let trust: Duration
    private struct State {
        /// The changes of the state when the newest backup was made; `nil` = none was made by this run.
        var changes: Int?
        var thinnedAt: ContinuousClock.Instant?
        var replacement: BackupError?
    }
    private let state = Mutex(State())

    /// Names of copies of the state file that a backup is made of.
    private static let copyPrefix = ".state-copy-"
    /// Removing what is not needed lists all segments.
    private static let thinInterval = Duration.seconds(600)

    init(_ options: BackupOptions, store: StateStore, data: URL, claim: PlaceClaim? = nil) {
        trust = options.trust
        every = options.every
        place = options.place.name
        let claim = claim ?? PlaceClaim(epoch: store.epoch, run: UInt64.random(in: 0 ... .max), lineage: store.lineage)
        placeGuard = PlaceGuard(options.place, own: claim)
        writer = BackupWriter(options.place, claim: claim)
        self.store = store
        folder = data
    }

    /// Why this coordinator must end; `nil` = it goes on.
    var replacement: BackupError? { state.withLock(\.replacement) }

    /// Whether a coordinator with another state file used the place before; known when the place has answered.
    var hasPredecessor: Bool { get async { await placeGuard.hasPredecessor } }

    /// Asks the place whether this coordinator still has the highest epoch there.
    ///
    /// - Throws: ``BackupError`` `replaced` and `other-state`, which are kept in ``replacement``; any other error leaves it open.
    func confirm(within age: Duration = .zero) async throws {
        if let replacement { throw replacement }
        do {
            try await placeGuard.confirm(within: age)
        } catch let error as BackupError where error.code == .replaced || error.code == .foreign {
            state.withLock { $0.replacement = error }
            throw error
        }
    }

    /// Returns when the place has confirmed that this coordinator may change what its successor would share: catalogs and blobs.
    ///
    /// Asks again while the place does not answer.
    ///
    /// - Throws: ``BackupError`` when it was replaced; `CancellationError` when the coordinator stops.
    func waitForTurn() async throws {
        while true {
            do {
                return try await confirm(within: trust)
            } catch {
                if let replacement { throw replacement }
                if store.isStoppingBackups { throw CancellationError() }
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// Makes a backup, unless nothing has changed since the one before.
    ///
    /// - Parameters:
    ///   - pages: Pages of the state file that are copied in one slice.
    ///   - isLast: Whether the coordinator stops; other rounds end then.
    /// - Returns: Why surplus backups were not removed; `nil` = they were, or it was not time. The backup is good in both cases.
    /// - Throws: ``BackupError``, `StorageError`, `S3Error`, `CancellationError`, what SQLite throws.
    @discardableResult
    func makeBackup(pages: Int32, isLast: Bool = false) async throws -> (any Error)? {
        try await confirm()
        let changes = try await store.changes()
        guard changes != state.withLock(\.changes) else { return nil }
        try await FileWork.run { [self] in removeCopies() }
        let copy = folder.appending(path: Self.copyPrefix + TemporaryName.random())
        // A copy that stays is removed by the next backup.
        defer { unlink(copy.path) }
        try await store.copyPages(into: copy, pages, isLast: isLast)
        let now = Int64(Date().timeIntervalSince1970)
        try await writer.write(copy, now: now)
        state.withLock { $0.changes = changes }
        guard !isLast, state.withLock(\.thinnedAt).map({ ContinuousClock.now - $0 > Self.thinInterval }) ?? true else {
            return nil
        }
        state.withLock { $0.thinnedAt = ContinuousClock.now }
        do {
            try await confirm()
            let isComplete = try await writer.thin(now: now)
            if !isComplete { state.withLock { $0.changes = nil } }
        } catch {
            if let replacement { throw replacement }
            return error
        }
        return nil
    }

    /// Makes a backup of what changed since the last one, when the coordinator stops; gives up after a while.
    ///
    /// - Returns: Why there is none; `nil` = it was made.
    func makeLast(pages: Int32, within patience: Duration) async -> (any Error)? {
        guard replacement == nil else { return nil }
        // The task of the loop is cancelled already.
        let work = Task { try await makeBackup(pages: pages, isLast: true) }
        let timer = Task {
            // Cancelled when the work ends first.
            try? await Task.sleep(for: patience)
            work.cancel()
        }
        defer { timer.cancel() }
        do { _ = try await work.value } catch { return error }
        return nil
    }

    /// Removes copies that a crash left.
    private func removeCopies() {
        // What cannot be listed is not removed.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names where name.hasPrefix(Self.copyPrefix) { unlink(folder.appending(path: name).path) }
    }
}
