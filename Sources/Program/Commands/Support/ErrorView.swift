internal import CommandSupport
internal import Errors

/// An error of a command as JSON.
struct ErrorView: Encodable {
    let error: String
    let details: [String]
    let hint: String?
    let exitCode: Int32
    let exitName: String

    init(_ problem: CLIError) {
        error = CLIError.oneLine(problem.message)
        details = problem.details
        hint = problem.hint
        exitCode = problem.status.rawValue
        exitName = problem.status.name
    }
}
