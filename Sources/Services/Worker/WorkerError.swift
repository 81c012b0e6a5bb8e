public import Errors

/// Why a worker could not start or had to end.
public typealias WorkerError = PackhorseError<WorkerErrorCode>

/// A stable code for the kind of error.
///
/// Texts may change, codes may not.
public enum WorkerErrorCode: String, ErrorCode {
    /// The coordinator refuses this worker: another version, or another blob store.
    case rejected
    /// The worker's key does not have the role it needs.
    case forbidden
    /// No coordinator answered for an hour.
    case orphaned

    /// The exit code of a command that ends with this.
    public var exitStatus: ExitStatus {
        switch self {
        case .rejected: .configuration
        case .forbidden: .permission
        case .orphaned: .temporary
        }
    }
}
