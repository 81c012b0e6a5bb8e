public import Errors

/// Why metrics cannot be served.
public typealias MetricsServerError = PackhorseError<MetricsServerErrorCode>

/// A stable kebab-case reason.
public enum MetricsServerErrorCode: String, ErrorCode {
    /// Another process listens at the address, or this process may not.
    case cannotListen = "cannot-listen"
    /// The host is unknown, or an address of another machine.
    case badHost = "bad-host"
    /// There is no folder for the socket, or another file has its name.
    case badPath = "bad-path"

    /// The exit code of a command that ends with this.
    public var exitStatus: ExitStatus {
        switch self {
        case .cannotListen: .temporary
        case .badHost: .configuration
        case .badPath: .cannotCreate
        }
    }
}
