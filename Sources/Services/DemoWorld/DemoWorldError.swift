public import Errors

/// Why the demo world could not be served.
public typealias DemoWorldError = PackhorseError<DemoWorldErrorCode>

/// A stable kebab-case reason.
public enum DemoWorldErrorCode: String, ErrorCode {
    /// The file for the requests cannot be written.
    case cannotLog = "cannot-log"

    /// The exit code of a command that ends with this.
    public var exitStatus: ExitStatus {
        switch self {
        case .cannotLog: .cannotCreate
        }
    }
}
