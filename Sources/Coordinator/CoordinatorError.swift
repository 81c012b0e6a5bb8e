/// Why a coordinator cannot start or go on.
public struct CoordinatorError: Error, Sendable, CustomStringConvertible {
    /// A stable name of what went wrong.
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
        /// The state file refused a change for a reason that waiting does not cure.
        public static let store = Code(wrapped: .store)

        /// A backup's name that cannot be one, or is taken.
        public static let backupName = Code(wrapped: .backupName)
        /// There is no state file.
        public static let missing = Code(wrapped: .missing)

        /// The code in kebab-case.
        public var description: String { wrapped.rawValue }
    }

    /// What went wrong, for programs.
    public let code: Code
    /// What went wrong and what to do, for people.
    public let message: String
    /// The error below.
    public let cause: (any Error)?

    /// After 2^32 leases of one incarnation; the next one has numbers of its own.
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
