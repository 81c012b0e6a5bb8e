/// The shape of every error of Packhorse: a code for programs, a message for people.
public protocol CodedError: Error, Sendable, CustomStringConvertible {
    /// The module's list of reasons.
    associatedtype Code: ErrorCode

    /// The reason, for programs.
    var code: Code { get }
    /// What failed, which thing, what was found and expected, and what to do; for people, without secrets.
    var message: String { get }
    /// The error below, when there was one.
    var cause: (any Error)? { get }
}

extension CodedError {
    /// `nil`: most errors have none below them.
    public var cause: (any Error)? { nil }
    /// The message, followed by the code in brackets.
    public var description: String { "\(message) [\(code)]" }
    /// The exit code of a command that ends with this error.
    public var exitStatus: ExitStatus { code.exitStatus }
}

/// An error that has nothing but its code, message and cause.
public struct PackhorseError<Code: ErrorCode>: CodedError {
    /// The reason, for programs.
    public let code: Code
    /// What failed, which thing, what was found and expected, and what to do; for people, without secrets.
    public let message: String
    /// The error below, when there was one.
    public let cause: (any Error)?

    /// Makes an error from its parts.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}
