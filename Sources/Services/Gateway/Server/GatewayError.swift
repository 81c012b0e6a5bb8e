public import Errors

/// Why the gateway does not run.
public typealias GatewayError = PackhorseError<GatewayErrorCode>

/// A stable, kebab-case reason.
public enum GatewayErrorCode: String, ErrorCode {
    /// The port is taken, or may not be used.
    case cannotListen = "cannot-listen"
    /// The host is not an address of this machine.
    case badHost = "bad-host"
    /// The server stopped after it had listened.
    case serverFailed = "server-failed"
    /// There is no folder, or no catalog in it.
    case catalogMissing = "catalog-missing"
    /// The catalog's documents contradict each other or their format.
    case catalogDamaged = "catalog-damaged"
    /// A file of the catalog cannot be read.
    case unreadable
    /// An option or a token file is wrong.
    case badConfiguration = "bad-configuration"

    /// The exit code of a command that ends with this.
    public var exitStatus: ExitStatus {
        switch self {
        case .cannotListen: .cannotCreate
        case .badHost, .badConfiguration: .configuration
        case .serverFailed: .software
        case .catalogMissing: .noInput
        case .catalogDamaged: .badData
        case .unreadable: .inputOutput
        }
    }
}
