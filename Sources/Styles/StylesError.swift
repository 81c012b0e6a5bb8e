/// Why a style pack cannot be made or used.
///
/// The message names URLs with `{key}` in place of the key; the key itself never appears.
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

        /// The document is not a style, or needs something that a pack cannot contain.
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
        /// Resources that a client needs cannot be fetched; fetched resources are kept, so that the next run continues.
        public static let missingResource = Code(.missingResource)
        /// A body that is not what its kind says.
        public static let badResource = Code(.badResource)
        /// The folder is not a style pack, or is damaged.
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
    /// Whether the server refused permanently (404, 403, 410): another attempt soon will not help.
    public let isRefusal: Bool

    init(_ code: Code, _ message: String, cause: (any Error)? = nil, isRefusal: Bool = false) {
        self.isRefusal = isRefusal
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Whether an answer is a permanent refusal: 4xx except those that allow a retry.
    static func isRefusal(status: Int) -> Bool {
        (400..<500).contains(status) && ![408, 409, 421, 423, 425, 429].contains(status)
    }

    /// `code: message`.
    public var description: String { "\(code): \(message)" }
}
