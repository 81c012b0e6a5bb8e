import Catalog
import Errors
import Files
import Foundation
import Logging
import Scheduling
import StateBackups
import Synchronization
import Telemetry

/// Whether this coordinator may change what its successor would share: asks the places, and keeps their answers.
///
/// The claim of this run is in the place of the backups, in the lock file of each catalog, and in the folder of blobs.
final class TenureWatch: Sendable {
    /// Automatic backups of the state; `nil` = none are made.
    let backups: StateBackups?
    private let own: PlaceClaim
    private let files: [ClaimFile]
    private let logger: Logger
    private let start = ContinuousClock.now
    private struct State {
        var tenure = Tenure()
        var replacement: BackupError?
        /// Questions that are under way: one may hang.
        var questions = 0
        /// Why the last question was not answered; `nil` = it was.
        var problem: String?
        /// Whether the place does not answer, so that no rates are granted.
        var isSilent = false
        /// Files without the claim.
        var unwritten: [ClaimFile]
    }
    private let state: Mutex<State>

    /// How long the loop waits for an answer after the process stood still.
    private static let patience = Duration.seconds(3)
    /// Questions that may be under way.
    private static let mostQuestions = 4

    /// - Parameters:
    ///   - catalogs: The folders of the catalogs.
    ///   - blobs: The folder of the blobs; `nil` = they are not in a folder.
    init(_ own: PlaceClaim, backups: StateBackups?, catalogs: [URL], blobs: URL?, logger: Logger) {
        self.own = own
        self.backups = backups
        files =
            catalogs.map { ClaimFile(Catalog.lockFile(in: $0), own: own) }
            + (blobs.map { [ClaimFile($0.appending(path: ClaimFile.blobsName), own: own)] } ?? [])
        state = Mutex(State(unwritten: files))
        self.logger = logger
    }

    /// Why this coordinator must end; `nil` = it goes on.
    var replacement: BackupError? { state.withLock(\.replacement) ?? backups?.replacement }

    /// Makes sure that no folder has a higher claim; blocks for short reads.
    ///
    /// - Throws: ``BackupError`` `replaced`, which is kept in ``replacement``.
    func checkFolders() throws(BackupError) { for file in files { try check(file) } }

    /// The same: whether a folder has a higher claim.
    var isReplaced: Bool { (try? checkFolders()) == nil }

    /// Why this coordinator may not change a catalog any more; `nil` = it may.
    func refusal(in catalog: URL) -> @Sendable () -> String? {
        let file = ClaimFile(Catalog.lockFile(in: catalog), own: own)
        return { [self] in
            do throws(BackupError) { try check(file) } catch { return error.message }
            return nil
        }
    }

    /// Writes the claim into the folders; one that cannot be written is tried again with the next question.
    ///
    /// - Throws: ``BackupError`` `replaced`; `CancellationError`.
    func announce() async throws {
        for file in state.withLock(\.unwritten) {
            do {
                try await FileWork.run { try file.announce() }
                state.withLock { state in state.unwritten.removeAll { $0.url == file.url } }
            } catch let error as BackupError {
                throw note(error)
            } catch let error as StorageError {
                logger.warning(
                    "The epoch of this coordinator could not be written; an old coordinator may not see it",
                    metadata: [LogKey.path: "\(file.url.path)", LogKey.errorMessage: "\(error.message)"])
            }
        }
    }

    /// Asks the folders and the place until it is cancelled or this coordinator was replaced.
    func watch() async {
        while replacement == nil {
            do { try await Task.sleep(for: .milliseconds(Tenure.question)) } catch { return }
            // A question that hangs must not delay the next one. Its error is kept.
            Task {
                do { try await ask() } catch { return }
                try? await announce()
            }
            noteSilence()
        }
    }

    /// Asks the folders and the place whether this coordinator still has the highest epoch.
    ///
    /// - Throws: ``BackupError``; what the place throws.
    func ask() async throws {
        let asked = now
        let mayAsk = state.withLock { state in
            guard state.questions < Self.mostQuestions else { return false }
            state.questions += 1
            return true
        }
        guard mayAsk else { return }
        defer { state.withLock { $0.questions -= 1 } }
        do {
            try await FileWork.run { [self] in try checkFolders() }
            try await backups?.confirm()
        } catch {
            state.withLock { $0.problem = (error as? any CodedError)?.message ?? "\(error)" }
            throw error
        }
        let (answered, hasPredecessor) = (now, await backups?.hasPredecessor ?? false)
        state.withLock { state in
            state.problem = nil
            state.tenure.announced(at: answered, hasPredecessor: hasPredecessor)
            state.tenure.confirmed(asked: asked)
        }
    }

    /// Asks again after the process stood still: another coordinator may have been started.
    ///
    /// Messages that this one has ready must not leave before.
    ///
    /// - Throws: ``BackupError`` `replaced`; `CancellationError`. Without an answer in a few seconds nothing is thrown, and no rates are granted.
    func stoodStill() async throws {
        let woke = now
        state.withLock { $0.tenure.stoodStill() }
        // Its error is kept.
        Task { try? await ask() }
        let end = ContinuousClock.now + Self.patience
        while replacement == nil, ContinuousClock.now < end, !isConfirmed(within: now - woke + 1) {
            try await Task.sleep(for: .milliseconds(20))
        }
        if let replacement { throw replacement }
    }

    /// Whether workers may be granted shares of rates; always without backups.
    var mayGrant: Bool {
        guard replacement == nil else { return false }
        return backups == nil || state.withLock { $0.tenure.mayGrant(now) }
    }

    /// Why no rates are granted: the place of the backups does not answer; `nil` = it does.
    var silence: String? { state.withLock { $0.isSilent ? $0.problem ?? "no answer" : nil } }

    /// Returns when this coordinator may change what its successor would share.
    ///
    /// Asks again while the place of the backups does not answer.
    ///
    /// - Throws: ``BackupError`` when it was replaced; `CancellationError` when the coordinator stops.
    func waitForTurn() async throws {
        if let replacement { throw replacement }
        try await backups?.waitForTurn()
        try await FileWork.run { [self] in try checkFolders() }
    }

    private var now: Tick {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return Tick(milliseconds: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }

    private func isConfirmed(within age: Int64) -> Bool {
        state.withLock { $0.tenure.mayChange(now, within: age) }
    }

    private func check(_ file: ClaimFile) throws(BackupError) {
        do throws(BackupError) { try file.check() } catch { throw note(error) }
    }

    private func note(_ error: BackupError) -> BackupError {
        state.withLock { state in
            state.tenure.replaced()
            state.replacement = error
        }
        return error
    }

    /// Logs that no rates are granted any more, or again.
    private func noteSilence() {
        guard let backups, replacement == nil else { return }
        let (isSilent, hasChanged, problem) = state.withLock { state in
            // After the process stood still the first question is under way, and none has failed.
            let hasFailed = state.problem != nil || state.questions > 1
            let isSilent = hasFailed && !state.tenure.mayChange(now, within: Tenure.grants)
            defer { state.isSilent = isSilent }
            return (isSilent, state.isSilent != isSilent, state.problem)
        }
        guard hasChanged else { return }
        if isSilent {
            logger.warning(
                "The place of the backups does not answer, so workers fetch nothing: another coordinator may have been restored from it",
                metadata: [LogKey.path: "\(backups.place)", LogKey.errorMessage: "\(problem ?? "no answer")"])
        } else {
            logger.notice(
                "The place of the backups answers again: workers fetch", metadata: [LogKey.path: "\(backups.place)"])
        }
    }
}

extension LoopEnvironment {
    /// Returns when this coordinator may change catalogs and remove blobs.
    ///
    /// - Throws: ``BackupError`` when it was replaced; `CancellationError` when it stops.
    func waitForTurn() async throws { try await tenure.waitForTurn() }

    /// The same; `false` when the coordinator was replaced or stops.
    ///
    /// What it would have done is done by its successor, or after the next start.
    func hasTurn() async -> Bool {
        do { try await waitForTurn() } catch { return false }
        return true
    }
}
