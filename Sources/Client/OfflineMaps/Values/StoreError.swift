/// Why a call of the store failed.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// The reason, for programs.
    public var code: Code
    /// What failed, which thing, what was found and expected.
    public var message: String
    /// What to do about it.
    public var advice: String?
    /// The error below.
    public var cause: (any Error)?
    /// Whether the same call may work later.
    public var isRetriable: Bool

    /// Makes an error of its parts.
    public init(
        _ code: Code, _ message: String, advice: String? = nil, cause: (any Error)? = nil, isRetriable: Bool = false
    ) {
        self.code = code
        self.message = message
        self.advice = advice
        self.cause = cause
        self.isRetriable = isRetriable
    }

    /// The message, the advice, and the code in brackets.
    public var description: String { "\(message)\(advice.map { " " + $0 } ?? "") [\(code.name)]" }

    /// The reason of an error: a stable word in kebab-case.
    ///
    /// A struct and not an enum, so that a new reason does not break the `switch` of an app.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The word.
        public let name: String

        /// Makes a code of a word in kebab-case.
        public init(_ name: String) { self.name = name }

        /// The word.
        public var description: String { name }
    }
}

extension StoreError.Code {
    /// The folder cannot be created, read or written.
    public static let folder = Self("folder")
    /// The disk or the database failed.
    public static let storage = Self("storage")
    /// The disk is full.
    public static let diskFull = Self("disk-full")
    /// A newer version of the library wrote the store.
    public static let newerStore = Self("newer-store")
    /// The item, region or task does not exist.
    public static let notFound = Self("not-found")
    /// An argument is out of range, or arguments contradict each other.
    public static let invalidArguments = Self("invalid-arguments")
    /// The item is not in the catalog, or there is no catalog yet.
    public static let notInCatalog = Self("not-in-catalog")
    /// Another file is installed for the item.
    public static let installed = Self("installed")
    /// A limit of ``Quota`` would be exceeded.
    public static let limit = Self("limit")
    /// The file is not of a kind that the store can take, or is damaged.
    public static let badFile = Self("bad-file")
    /// An installed file does not have the expected bytes.
    public static let damaged = Self("damaged")
    /// The server could not be reached or refused.
    public static let network = Self("network")
    /// The catalog was refused: its form, its signature, or its sequence.
    public static let catalog = Self("catalog")
    /// The state of the task does not allow the call.
    public static let wrongState = Self("wrong-state")
}
