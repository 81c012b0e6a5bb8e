import ArgumentParser
import Errors

/// Checks the value of an option when the command line is parsed, by the code that uses it later.
package enum OptionValue {
    /// Reports an error of `body` as a wrong command line.
    ///
    /// - Parameter option: As it is written: `--notify`.
    /// - Throws: `ValidationError`, which ends with 64 and names the option.
    package static func check(_ option: String, _ body: () throws -> Void) throws {
        do { try body() } catch let error as any CodedError {
            let hint = error.hint.map { "; \($0)" } ?? ""
            throw ValidationError("\(option): \(error.message)\(hint)")
        }
    }
}
