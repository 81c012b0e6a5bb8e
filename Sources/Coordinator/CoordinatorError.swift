/// Why a coordinator cannot start or go on.
public struct CoordinatorError: Error, Sendable, CustomStringConvertible {
    /// A stable code for the kind of error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Wrapped: String, Sendable {
            case dataInUse = "data-in-use"
            case damagedState = "damaged-state"
            case newerState = "newer-state"
            case cannotOpen = "cannot-open"
            case store = "store-failed"
            case backupName = "backup-name"
            case missing = "missing"
        }
        private let wrapped: Wrapped

        /// Another coordinator runs on the same data folder.
        public static let dataInUse = Code(wrapped: .dataInUse)
        /// The state file fails its integrity check.
        public static let damagedState = Code(wrapped: .damagedState)
        /// The state file was written by a newer version.
        public static let newerState = Code(wrapped: .newerState)
        /// The data folder or the state file cannot be opened.
        public static let cannotOpen = Code(wrapped: .cannotOpen)
        /// The state file refused a change for a reason that waiting does not resolve.
        public static let store = Code(wrapped: .store)

        /// The name of a backup is invalid or already exists.
        public static let backupName = Code(wrapped: .backupName)
        /// The state file does not exist.
        public static let missing = Code(wrapped: .missing)

        /// The code in kebab-case.
        public var description: String { wrapped.rawValue }
    }

    /// The kind of error, for programs.
    public let code: Code
    /// What went wrong and what to do, for people.
    public let message: String
    /// The underlying error.
    public let cause: (any Error)?

    /// After 2^32 leases of one run.
    ///
    /// The next run has its own numbers.
    static var spentTokens: CoordinatorError {
        CoordinatorError(.store, "This coordinator has granted 4,294,967,295 leases. Start it again; nothing is lost.")
    }

    init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// `code: message`.
    public var description: String { "\(code): \(message)" }
}
