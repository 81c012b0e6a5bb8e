package import Errors
import Foundation
import Scheduling

/// Why a step after a job failed.
package struct StepProblem: Error, Sendable {
    /// A stable kebab-case code.
    package let cause: String
    /// For people, with the remedy.
    package let text: String
    /// Whether waiting may resolve it.
    package let mayHeal: Bool

    package init(_ cause: String, _ text: String, mayHeal: Bool = false) {
        (self.cause, self.text, self.mayHeal) = (cause, text, mayHeal)
    }

    /// A problem that has this exit code as a command, and would be met again or not.
    package static func mayHeal(_ status: ExitStatus) -> Bool {
        [.temporary, .unavailable, .inputOutput, .cannotCreate].contains(status)
    }

    /// The problem of any error.
    init(_ error: any Error) {
        switch error {
        case let error as StepProblem: self = error
        case let error as any CodedError:
            let text = ([error.message] + error.details.prefix(3)).joined(separator: "; ")
            self.init(
                "\(error.code)", text + (error.hint.map { "; \($0)" } ?? ""), mayHeal: Self.mayHeal(error.exitStatus))
        case let error as SubmitProblem: self.init(error.code, error.withHint)
        case let error as CocoaError:
            self.init(
                error.code == .fileWriteOutOfSpace ? "disk-full" : "io", error.localizedDescription, mayHeal: true)
        default:
            let (trouble, mayHeal) = CatalogTable.trouble(error)
            self.init(trouble.cause, trouble.detail, mayHeal: mayHeal)
        }
    }
}
