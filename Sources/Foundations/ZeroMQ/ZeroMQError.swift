public import Errors

/// Why a link could not be opened or used.
public typealias ZeroMQError = PackhorseError<ZeroMQErrorCode>

/// A stable code for the kind of error.
///
/// Texts may change, codes may not.
public enum ZeroMQErrorCode: String, ErrorCode {
    /// The endpoint is malformed or cannot be bound on this machine.
    case badEndpoint = "bad-endpoint"
    /// Another process listens at this address.
    case addressInUse = "address-in-use"
    /// Unencrypted connections to other machines were not allowed explicitly.
    case plainRefused = "plain-refused"
    /// The text is not a CURVE key.
    case badKey = "bad-key"
    /// A word in a key file is not a role.
    case badRole = "bad-role"
    /// Other users can read a secret key, or change a public one.
    case keyPermissions = "key-permissions"
    /// The key file, or the folder of keys, does not exist.
    case keyMissing = "key-missing"
    /// A key file cannot be read or written, or is malformed.
    case keyFile = "key-file"
    /// The peer refused our key or our protocol.
    case refused
    /// No peer accepted the message in time.
    case unreachable
    /// A message exceeds the limit of this side.
    case tooLarge = "too-large"
    /// The link was closed.
    case closed
    /// A limit of the process or the system leaves no thread, descriptor or memory.
    case noResources = "no-resources"
    /// libzmq failed in an unexpected way.
    case library = "library-failed"

    /// The exit code of a command that ends with this.
    public var exitStatus: ExitStatus {
        switch self {
        case .badEndpoint, .badKey, .badRole, .keyFile, .noResources: .configuration
        case .addressInUse: .temporary
        case .plainRefused, .keyPermissions, .refused: .permission
        case .keyMissing: .noInput
        case .unreachable, .closed: .unavailable
        case .tooLarge: .badData
        case .library: .software
        }
    }
}
