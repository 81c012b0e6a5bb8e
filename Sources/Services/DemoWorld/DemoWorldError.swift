public import Errors

/// Why the demo world could not be served.
public typealias DemoWorldError = PackhorseError<DemoWorldErrorCode>

/// A stable kebab-case reason.
public enum DemoWorldErrorCode: String, ErrorCode {
    /// The address cannot be bound: taken, or not allowed.
    case cannotListen = "cannot-listen"
    /// The host is unknown, or an address of another machine.
    case badHost = "bad-host"
    /// The server stopped by itself after it had started.
    case serverFailed = "server-failed"
    /// The file for the requests cannot be written.
    case cannotLog = "cannot-log"

    /// The exit code of a command that ends with this.
    public var exitStatus: ExitStatus {
        switch self {
        case .cannotListen, .serverFailed: .temporary
        case .badHost: .configuration
        case .cannotLog: .cannotCreate
        }
    }
}
