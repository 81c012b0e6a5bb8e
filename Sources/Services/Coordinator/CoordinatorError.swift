public import Errors

/// Why a coordinator cannot start or go on.
public typealias CoordinatorError = PackhorseError<CoordinatorErrorCode>

/// A stable code for the kind of error.
public enum CoordinatorErrorCode: String, ErrorCode {
    /// Another coordinator runs on the same data folder.
    case dataInUse = "data-in-use"
    /// The state file fails its integrity check.
    case damagedState = "damaged-state"
    /// The state file was written by a newer version.
    case newerState = "newer-state"
    /// The state file was written by a build before the first release.
    case unreleasedState = "unreleased-state"
    /// The data folder or the state file cannot be opened.
    case cannotOpen = "cannot-open"
    /// The disk of the state file is full.
    case diskFull = "disk-full"
    /// The state file refused a change for a reason that waiting does not resolve.
    case store = "store-failed"
    /// The name of a backup is invalid.
    case backupName = "backup-name"
    /// There is a backup of the same name.
    case backupExists = "backup-exists"
    /// There is a state where one is to be restored.
    case exists = "state-exists"
    /// The state file does not exist.
    case missing

    /// The exit code of a command that ends with this.
    public var exitStatus: ExitStatus {
        switch self {
        case .dataInUse, .diskFull: .temporary
        case .damagedState: .badData
        case .newerState, .unreleasedState: .configuration
        case .cannotOpen, .exists, .backupExists: .cannotCreate
        case .store: .inputOutput
        case .backupName: .usage
        case .missing: .noInput
        }
    }
}

extension PackhorseError where Code == CoordinatorErrorCode {
    /// After 2^32 leases of one run.
    ///
    /// The next run has its own numbers.
    static var spentTokens: CoordinatorError {
        CoordinatorError(.store, "This coordinator has granted 4,294,967,295 leases. Start it again; nothing is lost.")
    }
}
