public import Errors

/// Why the gateway does not run.
public typealias GatewayError = PackhorseError<GatewayErrorCode>

/// A stable, kebab-case reason.
public enum GatewayErrorCode: String, ErrorCode {
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
        case .badConfiguration: .configuration
        case .catalogMissing: .noInput
        case .catalogDamaged: .badData
        case .unreadable: .inputOutput
        }
    }
}
