public import Errors

/// Why a web server does not run.
public typealias WebServerError = PackhorseError<WebServerErrorCode>

/// A stable kebab-case reason.
public enum WebServerErrorCode: String, ErrorCode {
    /// The address cannot be bound: taken, or not allowed.
    case cannotListen = "cannot-listen"
    /// The host is unknown, or an address of another machine.
    case badHost = "bad-host"
    /// The server stopped by itself after it had listened.
    case serverFailed = "server-failed"

    /// The exit code of a command that ends with this.
    public var exitStatus: ExitStatus {
        switch self {
        case .cannotListen: .cannotCreate
        case .badHost: .configuration
        case .serverFailed: .software
        }
    }
}
