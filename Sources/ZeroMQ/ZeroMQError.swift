public import Errors

/// Why a link could not be opened or used.
public typealias ZeroMQError = PackhorseError<ZeroMQErrorCode>

/// A stable name of what went wrong.
///
/// Texts may change, codes may not.
public enum ZeroMQErrorCode: String, ErrorCode {
    /// The endpoint is malformed or cannot be bound on this machine.
    case badEndpoint = "bad-endpoint"
    /// Another process listens there.
    case addressInUse = "address-in-use"
    /// Unencrypted traffic beyond loopback was not allowed explicitly.
    case plainRefused = "plain-refused"
    /// The text is not a CURVE key.
    case badKey = "bad-key"
    /// A word in a key file is not a role.
    case badRole = "bad-role"
    /// Others than the owner may read a secret key.
    case keyPermissions = "key-permissions"
    /// There is no such key file, or folder of keys.
    case keyMissing = "key-missing"
    /// A key file cannot be read or written, or is malformed.
    case keyFile = "key-file"
    /// The peer refused our key or our way of speaking.
    case refused
    /// No peer took the message in time.
    case unreachable
    /// A message exceeds the bound of this side.
    case tooLarge = "too-large"
    /// The link was closed.
    case closed
    /// libzmq failed in a way this code does not expect.
    case engine

    /// The exit code of a command that ends with this.
    public var exitStatus: ExitStatus {
        switch self {
        case .badEndpoint, .badKey, .badRole, .keyFile: .configuration
        case .addressInUse: .temporary
        case .plainRefused, .keyPermissions, .refused: .permission
        case .keyMissing: .noInput
        case .unreachable, .closed: .unavailable
        case .tooLarge: .badData
        case .engine: .software
        }
    }
}
