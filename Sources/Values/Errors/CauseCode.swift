/// A cause as it is sent, stored and shown: a cause of the closed set, or the answer of a server as `http-NNN`.
///
/// Nothing else can be made, so an origin cannot report a word that the scheduler does not know.
public struct CauseCode: Hashable, Sendable, CustomStringConvertible {
    /// What it is treated as.
    public let cause: FailureCause
    /// The status of `http-NNN`; `nil` for other causes.
    public let status: Int?

    /// A cause of the closed set.
    public init(_ cause: FailureCause) { (self.cause, status) = (cause, nil) }

    /// The answer of a server that is no tile.
    ///
    /// A number that is no status gives ``FailureCause/unknown``.
    public init(status: Int) {
        self.init(code: "http-\(status)")
    }

    /// Reads a code; any other text is ``FailureCause/unknown``.
    public init(code: String) {
        cause = FailureCause(named: code)
        status = FailureCause(rawValue: code) == nil ? FailureCause.status(code) : nil
    }

    /// The code in kebab-case: at most 20 bytes.
    public var description: String { status.map { "http-\($0)" } ?? cause.rawValue }
}
