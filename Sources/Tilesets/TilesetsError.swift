/// Why a tileset cannot be used.
///
/// The message names keys and environment variables, never their secret values.
public struct TilesetsError: Error, Sendable, CustomStringConvertible {
    /// A stable, bounded name for a failure.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Name: String {
            case unreadable
            case badSyntax = "bad-syntax"
            case unknownKey = "unknown-key"
            case missingKey = "missing-key"
            case badValue = "bad-value"
            case badTemplate = "bad-template"
            case badTileJSON = "bad-tilejson"
            case literalSecret = "literal-secret"
            case missingSecret = "missing-secret"
            case hostRefused = "host-refused"
        }
        private let name: Name
        private init(_ name: Name) { self.name = name }

        /// The file cannot be read.
        public static let unreadable = Code(.unreadable)
        /// The file is neither YAML nor JSON, or its top is not a mapping.
        public static let badSyntax = Code(.badSyntax)
        /// A key that means nothing here.
        public static let unknownKey = Code(.unknownKey)
        /// A required key is missing, and the source's metadata does not have it.
        public static let missingKey = Code(.missingKey)
        /// A value of the wrong kind or out of range.
        public static let badValue = Code(.badValue)
        /// A URL template that cannot be expanded.
        public static let badTemplate = Code(.badTemplate)
        /// A TileJSON document that cannot be used.
        public static let badTileJSON = Code(.badTileJSON)
        /// A secret written into the file instead of the environment.
        public static let literalSecret = Code(.literalSecret)
        /// An environment variable that holds a secret is not set.
        public static let missingSecret = Code(.missingSecret)
        /// The host forbids bulk downloads.
        public static let hostRefused = Code(.hostRefused)

        /// The kebab-case name.
        public var description: String { name.rawValue }
    }

    /// What kind of failure it is.
    public let code: Code
    /// What failed, what was found, what to do.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// `code: message`.
    public var description: String { "\(code): \(message)" }
}
