/// Why a worker could not start or had to end.
public struct WorkerError: Error, Sendable, CustomStringConvertible {
    /// A stable code for the kind of error.
    ///
    /// Texts may change, codes may not.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Wrapped: String {
            case rejected = "rejected"
            case forbidden = "forbidden"
            case orphaned = "orphaned"
        }
        private let wrapped: Wrapped

        /// The coordinator refuses this worker: another version, or another blob store.
        public static let rejected = Code(wrapped: .rejected)
        /// The worker's key does not have the role it needs.
        public static let forbidden = Code(wrapped: .forbidden)
        /// No coordinator answered for an hour.
        public static let orphaned = Code(wrapped: .orphaned)

        /// The code in logs and metrics: kebab-case, safe as a metric label.
        public var description: String { wrapped.rawValue }
    }

    /// The kind of error, for programs.
    public let code: Code
    /// What went wrong, for people.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// `code: message`.
    public var description: String { "\(code): \(message)" }
}
