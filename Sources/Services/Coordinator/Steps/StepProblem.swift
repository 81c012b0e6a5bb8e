import Catalog
package import Errors
import Foundation
import Scheduling

/// Why a step after a job failed.
package struct StepProblem: Error, Sendable {
    /// A stable kebab-case code.
    package let cause: String
    /// For people, with the remedy.
    package let text: String
    /// The exit code of a command that does the same.
    package let status: ExitStatus

    /// - Parameter status: The exit code of a command that does the same.
    package init(_ cause: String, _ text: String, status: ExitStatus = .badData) {
        (self.cause, self.text, self.status) = (cause, text, status)
    }

    /// Whether waiting may resolve it.
    package var mayHeal: Bool { [.temporary, .unavailable, .inputOutput, .cannotCreate].contains(status) }

    /// The problem of any error.
    init(_ error: any Error) {
        switch error {
        case let error as StepProblem: self = error
        case let error as any CodedError:
            let text = ([error.message] + error.details.prefix(3)).joined(separator: "; ")
            self.init("\(error.code)", text + (error.hint.map { "; \($0)" } ?? ""), status: error.exitStatus)
        case let error as SubmitProblem: self.init(error.code, error.withHint)
        case let error as CocoaError:
            let isFull = error.code == .fileWriteOutOfSpace
            self.init(
                isFull ? "disk-full" : "io", error.localizedDescription, status: isFull ? .cannotCreate : .inputOutput)
        // The next attempt completes the change.
        case let error as BegunChange:
            let reason = StepProblem(error.reason)
            self.init(reason.cause, reason.text, status: reason.mayHeal ? reason.status : .temporary)
        default:
            let (trouble, mayHeal) = CatalogTable.trouble(error)
            self.init(trouble.cause, trouble.detail, status: mayHeal ? .temporary : .software)
        }
    }
}
