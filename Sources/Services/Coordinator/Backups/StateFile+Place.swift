internal import Errors
public import Foundation
public import StateBackups

extension StateFile {
    /// Restores a backup that a coordinator made by itself.
    ///
    /// The restored state has a higher epoch than every coordinator that has used the place.
    ///
    /// - Parameters:
    ///   - place: Where the backups are.
    ///   - time: The newest backup of this time or before it, in seconds since 1970; `nil` = the newest of all.
    ///   - folder: The data folder of the coordinator; it is created.
    ///   - isForced: Whether an existing state is renamed; otherwise it is refused.
    /// - Returns: The index of the backup, and the new location of the former state, or `nil` when there was none.
    /// - Throws: ``CoordinatorError`` `state-exists` and others; `BackupError`; what the place throws. Nothing has changed then.
    public static func restore(
        from place: any BackupPlace, at time: Int64? = nil, into folder: URL, isForced: Bool = false
    ) async throws -> (backup: BackupIndex, former: URL?) {
        let file = folder.appending(path: "state.sqlite")
        guard isForced || !FileManager.default.fileExists(atPath: file.path) else {
            throw CoordinatorError(
                .exists, "There is a state in '\(folder.path)' already.",
                hint: "give --force to replace it; it is renamed and kept")
        }
        let reader = BackupReader(place)
        let index = try await reader.index(try await reader.newest(at: time))
        let former = try await replace(in: folder, named: "\(index.name) in \(place.name)") { draft in
            try await reader.restore(index, to: draft)
            return try await reader.highestEpoch()
        }
        return (index, former)
    }

    /// Restores the newest backup of a place when the data folder has no state; an existing state stays.
    ///
    /// A place without any backup is that of a coordinator that has never run: the state begins empty.
    ///
    /// - Returns: The index of the backup; `nil` = nothing was restored.
    public static func restoreIfMissing(from place: any BackupPlace, into folder: URL) async throws -> BackupIndex? {
        guard !FileManager.default.fileExists(atPath: folder.appending(path: "state.sqlite").path) else { return nil }
        do {
            return try await restore(from: place, into: folder).backup
        } catch let error as BackupError where error.code == .noBackup {
            return nil
        }
    }
}
