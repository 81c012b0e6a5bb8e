public import Errors

/// Why notifications cannot be sent as they were configured.
public typealias NotificationError = PackhorseError<NotificationErrorCode>

/// A stable code for the kind of error.
public enum NotificationErrorCode: String, ErrorCode {
    /// The address of a receiver cannot be used.
    case badReceiver = "bad-receiver"
    /// A name is not a kind of notification.
    case unknownKind = "unknown-kind"
    /// The secret is too short.
    case badSecret = "bad-secret"

    /// The exit code of a command that ends with this.
    public var exitStatus: ExitStatus {
        switch self {
        case .badReceiver, .unknownKind: .usage
        case .badSecret: .configuration
        }
    }
}
