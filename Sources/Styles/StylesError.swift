/// Why a style pack cannot be made or used.
///
/// The message names URLs with `{key}` in place of the key; the key itself appears in none.
public struct StylesError: Error, Sendable, CustomStringConvertible {
    /// A stable, bounded name for a failure.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Name: String {
            case badStyle = "bad-style"
            case badURL = "bad-url"
            case tooLarge = "too-large"
            case hostRefused = "host-refused"
            case missingSecret = "missing-secret"
            case unreachable
            case missingResource = "missing-resource"
            case badResource = "bad-style-resource"
            case badPack = "bad-style-pack"
            case exists
            case diskFull = "disk-full"
            case io
        }
        private let name: Name
        private init(_ name: Name) { self.name = name }

        /// The document is no style, or asks for something that a pack cannot hold.
        public static let badStyle = Code(.badStyle)
        /// A URL that cannot be resolved or fetched.
        public static let badURL = Code(.badURL)
        /// The style needs more resources or bytes than the limits allow.
        public static let tooLarge = Code(.tooLarge)
        /// The host forbids bulk downloads, or the style of a public host points into a private network.
        public static let hostRefused = Code(.hostRefused)
        /// A URL needs `{key}` or `{language}`, and none was given.
        public static let missingSecret = Code(.missingSecret)
        /// The server gave no answer, or not the style.
        public static let unreachable = Code(.unreachable)
        /// Resources that a client needs cannot be had; what was fetched stays, so that the next run goes on.
        public static let missingResource = Code(.missingResource)
        /// A body that is not what its kind says.
        public static let badResource = Code(.badResource)
        /// A folder that is no style pack, or a damaged one.
        public static let badPack = Code(.badPack)
        /// The target holds something else.
        public static let exists = Code(.exists)
        /// No space is left on the file system.
        public static let diskFull = Code(.diskFull)
        /// The operating system refused a file operation.
        public static let io = Code(.io)

        /// The kebab-case name.
        public var description: String { name.rawValue }
    }

    /// What kind of failure it is.
    public let code: Code
    /// What failed, what was found, what to do.
    public let message: String
    /// The error below, when there was one.
    public let cause: (any Error)?
    /// Whether a server has said no and meant it (404, 403, 410): asking again soon is of no use.
    public let isRefusal: Bool

    init(_ code: Code, _ message: String, cause: (any Error)? = nil, isRefusal: Bool = false) {
        self.isRefusal = isRefusal
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Whether an answer is a refusal: 4xx, less those that ask for patience.
    static func isRefusal(status: Int) -> Bool {
        (400..<500).contains(status) && ![408, 409, 421, 423, 425, 429].contains(status)
    }

    /// `code: message`.
    public var description: String { "\(code): \(message)" }
}
