import Errors
import Foundation
import Logging
import Scheduling
import StateBackups
import Telemetry

/// Starts the backups when they are due, and delays the removal of blobs until a backup no longer needs them.
///
/// A coordinator that is restored from the newest backup finds every blob that the state of that backup names.
final class BackupRunner {
    private let state: CoordinatorState
    private var next = Tick(milliseconds: 0)
    private var isRunning = false
    private var lastStart: Tick?
    /// Backups that were begun.
    private var begun: UInt64 = 0
    /// The removals of blobs of finished jobs that wait, with the backup after which they are allowed.
    private var trims: [JobID: UInt64] = [:]
    /// Wall time of the newest backup of this run, in milliseconds since 1970; before the first one that of the start.
    private var newest: Int64
    private var hasMadeOne = false
    /// Why the last attempt failed; `nil` = it did not.
    private var problem: String?

    /// The shortest time between two backups when a removal of blobs waits for one, in milliseconds.
    private static let shortest: Int64 = 10_000

    init(_ state: CoordinatorState) {
        self.state = state
        newest = state.environment.wall
        guard state.environment.backups != nil else { return }
        state.releases.isCovering = false
        state.releases.ticket = 1
    }

    private var every: Int64 { (state.environment.backups?.every).map { Int64($0 / .milliseconds(1)) } ?? .max }

    /// Asks the place before anything is changed; one that does not answer is asked again with the first backup.
    ///
    /// - Throws: `BackupError` when another coordinator has taken over.
    func begin() async throws {
        guard state.environment.backups != nil else { return }
        do {
            try await state.environment.tenure.ask()
        } catch {
            if let replacement = state.environment.tenure.replacement { throw replacement }
            // A folder that is missing at the start is a mistake of the command line.
            if let error = error as? BackupError, error.code == .badPlace { throw error }
            noteProblem(error)
        }
    }

    /// Starts a backup when one is due.
    func startDue() {
        let environment = state.environment
        guard let backups = environment.backups, !isRunning else { return }
        let early = lastStart.map { $0 + min(Self.shortest, every) } ?? next
        let due = state.releases.isWaiting || !trims.isEmpty ? min(next, early) : next
        guard environment.now >= due else { return }
        isRunning = true
        begun += 1
        state.releases.ticket = begun + 1
        lastStart = environment.now
        next = environment.now + every
        let (number, wall, pages) = (begun, environment.wall, environment.options.backupPages)
        state.tick.tasks.append(
            .run(.stateBackups) { [logger = environment.logger] in
                do {
                    if let error = try await backups.makeBackup(pages: pages) {
                        logger.warning(
                            "Surplus backups of the state not removed",
                            metadata: [LogKey.path: "\(backups.place)", LogKey.errorMessage: "\(error)"])
                    }
                    return .backedUp(number: number, begun: wall, problem: nil)
                } catch {
                    return .backedUp(number: number, begun: wall, problem: error)
                }
            })
    }

    /// Makes the next backup now: the process was suspended, and may have been replaced.
    func hurry() { next = state.environment.now }

    /// Handles the end of a backup.
    func ended(number: UInt64, begun wall: Int64, problem error: (any Error)?) {
        isRunning = false
        guard error == nil else { return noteProblem(error) }
        if problem != nil { state.environment.logger.notice("Backups of the state work again") }
        problem = nil
        (newest, hasMadeOne) = (wall, true)
        let isAwaited = state.releases.isWaiting
        state.releases.covered = number
        if isAwaited { state.tick.tasks.append(.releaseBlobs) }
        // A job whose shards are no longer kept is released completely.
        let kept = Set(state.scheduler.baselineJobs)
        trims = trims.filter { kept.contains($0.key) }
        state.tick.tasks += trims.filter { $0.value <= number }.keys.sorted().map { .trimBlobs($0) }
    }

    /// Whether the blobs that a finished job no longer needs may be removed now; else the order is repeated after the next backup.
    func mayTrim(_ job: JobID) -> Bool {
        guard state.environment.backups != nil else { return true }
        let ticket = trims[job] ?? state.releases.ticket
        let isCovered = ticket <= state.releases.covered
        trims[job] = isCovered ? nil : ticket
        return isCovered
    }

    /// The place, and milliseconds since the newest backup, before the first one since the start; `nil` without backups.
    var age: (place: String, milliseconds: Int64, isOfBackup: Bool)? {
        state.environment.backups.map { ($0.place, max(state.environment.wall - newest, 1), hasMadeOne) }
    }

    /// What `health` says when backups are late: the text, and what to do.
    var warning: (text: String, hint: String)? {
        if let age, let problem = state.environment.tenure.silence {
            return (
                "workers fetch nothing, because the place of the backups '\(age.place)' does not answer: \(problem)",
                "make the place reachable, or start the coordinator with --backup-every 0s"
            )
        }
        guard let age, age.milliseconds > max(3 * every, Self.late) else { return nil }
        let why = problem.map { ": \($0)" } ?? ""
        return (
            "for \(age.milliseconds / 1_000) s the state was not backed up in '\(age.place)'\(why)",
            "make the place writable; a backup is tried again every \(every / 1_000) s"
        )
    }

    /// No backup is called late before so many milliseconds.
    private static let late: Int64 = 120_000

    private func noteProblem(_ error: (any Error)?) {
        guard let error, !(error is CancellationError), state.environment.backups?.replacement == nil else { return }
        let text = (error as? any CodedError)?.message ?? "\(error)"
        let metadata: Logger.Metadata = [
            LogKey.path: "\(state.environment.backups?.place ?? "")", LogKey.errorMessage: "\(text)",
        ]
        if problem == nil {
            state.environment.logger.warning("State not backed up", metadata: metadata)
        } else {
            state.environment.logger.debug("State not backed up", metadata: metadata)
        }
        problem = text
    }
}
