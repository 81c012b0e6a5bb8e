/// Why the demo world could not be served.
public struct DemoWorldError: Error, Sendable, CustomStringConvertible {
    /// A stable kebab-case reason.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case cannotListen = "cannot-listen"
            case badHost = "bad-host"
            case serverFailed = "server-failed"
            case cannotLog = "cannot-log"
        }

        private let value: Value

        /// The address cannot be bound: taken, or not allowed.
        public static let cannotListen = Code(value: .cannotListen)
        /// The host is unknown, or an address of another machine.
        public static let badHost = Code(value: .badHost)
        /// The server stopped by itself after it had started.
        public static let serverFailed = Code(value: .serverFailed)

        /// The file for the requests cannot be written.
        public static let cannotLog = Code(value: .cannotLog)

        /// The kebab-case word.
        public var description: String { value.rawValue }
    }

    /// The stable reason.
    public let code: Code
    /// What failed, where, and what to do.
    public let message: String
    /// The error of the server library.
    public let cause: (any Error)?

    /// `code: message`.
    public var description: String { "\(code): \(message)" }
}
