/// The shape of every error of Packhorse: a code for programs, a message for people.
public protocol CodedError: Error, Sendable, CustomStringConvertible {
    /// The module's list of reasons.
    associatedtype Code: ErrorCode

    /// The reason, for programs.
    var code: Code { get }
    /// What failed, which thing, what was found and expected, and what to do; for people, without secrets.
    var message: String { get }
    /// A list that belongs to the message, for example of problems; one entry a line.
    var details: [String] { get }
    /// A command or an action that helps.
    var hint: String? { get }
    /// The error below, when there was one.
    var cause: (any Error)? { get }
}

extension CodedError {
    /// Empty: most errors are one sentence.
    public var details: [String] { [] }
    /// `nil`: most messages say what to do.
    public var hint: String? { nil }
    /// `nil`: most errors have none below them.
    public var cause: (any Error)? { nil }
    /// The message, followed by the code in brackets.
    public var description: String { "\(message) [\(code)]" }
    /// The exit code of a command that ends with this error.
    public var exitStatus: ExitStatus { code.exitStatus }
}

/// An error that has nothing but the common parts of all errors.
public struct PackhorseError<Code: ErrorCode>: CodedError {
    /// The reason, for programs.
    public let code: Code
    /// What failed, which thing, what was found and expected, and what to do; for people, without secrets.
    public let message: String
    /// A list that belongs to the message, for example of problems; one entry a line.
    public let details: [String]
    /// A command or an action that helps.
    public let hint: String?
    /// The error below, when there was one.
    public let cause: (any Error)?

    /// Makes an error from its parts.
    public init(
        _ code: Code, _ message: String, details: [String] = [], hint: String? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.details = details
        self.hint = hint
        self.cause = cause
    }
}
