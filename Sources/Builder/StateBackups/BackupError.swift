public import Errors

/// Why backups of a state cannot be made, listed or restored.
public typealias BackupError = PackhorseError<BackupErrorCode>

/// A stable code for the kind of error.
public enum BackupErrorCode: String, ErrorCode {
    /// Another coordinator has taken over the state: it announced a higher epoch in the place.
    case replaced
    /// The place has backups of another state.
    case foreign = "other-state"
    /// The place has no backup, or none as old as was asked for.
    case noBackup = "no-backup"
    /// The bytes of a backup contradict its checksums or its own structure.
    case damaged = "damaged-backup"
    /// A newer version of the program wrote the backup.
    case newer = "newer-backup"
    /// A part of a backup is missing: it was removed while it was read.
    case incomplete = "incomplete-backup"
    /// The folder of the place does not exist, or the place cannot be named.
    case badPlace = "bad-place"

    /// The exit code of a command that ends with this.
    public var exitStatus: ExitStatus {
        switch self {
        case .replaced, .foreign, .newer: .configuration
        case .noBackup, .badPlace: .noInput
        case .damaged: .badData
        case .incomplete: .temporary
        }
    }
}
