package import Errors
internal import Wire

/// Why a request to the coordinator has no result.
package typealias ClusterError = PackhorseError<ClusterErrorCode>

/// A stable, kebab-case reason.
package enum ClusterErrorCode: String, ErrorCode {
    /// No coordinator answers.
    case unreachable
    /// The coordinator answered with a message that does not belong to the request.
    case unexpectedAnswer = "unexpected-answer"
    /// The job, batch, schedule, worker, package, catalog or origin does not exist.
    case unknown = "unknown-thing"
    /// The request itself is wrong.
    case wrongRequest = "wrong-request"
    /// The key may not do this.
    case forbidden
    /// Another version of the program, or a feature that it does not have.
    case otherVersion = "other-version"
    /// The endpoint is the coordinator's, but for workers or blobs.
    case wrongEndpoint = "wrong-endpoint"
    /// The same request may succeed later.
    case later = "try-later"
    /// Another command has changed the schedule since it was read.
    case scheduleChanged = "schedule-changed"
    /// The coordinator refuses the request.
    case refused
    /// What the coordinator is to make exists already.
    case exists
    /// An area without tiles.
    case emptyArea = "empty-area"
    /// An area that is given twice.
    case duplicateArea = "duplicate-area"
    /// An area that Web Mercator cannot show.
    case outsideMap = "outside-map"
    /// A job that does not fit into a message.
    case tooLarge = "too-large"

    /// The exit code of a command that ends with this.
    package var exitStatus: ExitStatus {
        switch self {
        case .unreachable: .unavailable
        case .unexpectedAnswer: .software
        case .unknown: .noInput
        case .wrongRequest, .duplicateArea, .outsideMap: .usage
        case .forbidden: .permission
        case .otherVersion, .wrongEndpoint: .configuration
        case .later, .scheduleChanged: .temporary
        case .exists: .cannotCreate
        case .refused, .emptyArea, .tooLarge: .badData
        }
    }
}

extension PackhorseError where Code == ClusterErrorCode {
    /// The error for a refused request.
    init(_ problem: PBProblem) {
        let code: ClusterErrorCode =
            switch problem.code {
            case "unknown-job", "unknown-batch", "unknown-schedule", "unknown-worker", "unknown-package",
                "unknown-catalog", "unknown-origin":
                .unknown
            case "bad-schedule", "bad-format", "bad-style", "bad-edition": .wrongRequest
            case "tile-limit", "bad-request", "bad-package", "bad-mask", "bad-zoom", "backup-name": .wrongRequest
            case "backup-exists": .exists
            case "forbidden": .forbidden
            case "version-mismatch", "unsupported": .otherVersion
            case "wrong-endpoint": .wrongEndpoint
            case "degraded": .later
            case "schedule-changed": .scheduleChanged
            default: problem.retriable ? .later : .refused
            }
        // The first line is the message; further ones are its details.
        let lines = problem.text.split(separator: "\n").map { $0.trimmingPrefix(while: { $0 == " " }) }
        self.init(
            code, lines.first.map(String.init) ?? "", details: lines.dropFirst().map(String.init),
            hint: problem.hint.isEmpty ? nil : problem.hint)
    }
}
