/// Why an origin cannot be opened.
public struct OriginsError: Error, Sendable, CustomStringConvertible {
    /// A stable, bounded name for a failure.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Name: String {
            case tileset
            case unreadable
            case badArchive = "bad-archive"
            case unsupported
            case unreachable
            case busy
        }
        private let name: Name
        private init(_ name: Name) { self.name = name }

        /// The tileset's description is refused; the cause names the key.
        public static let tileset = Code(.tileset)
        /// A file cannot be opened or read now, independent of its content.
        public static let unreadable = Code(.unreadable)
        /// A file is damaged or not what it should be.
        public static let badArchive = Code(.badArchive)
        /// A file is whole but uses something this build cannot read.
        public static let unsupported = Code(.unsupported)
        /// A file is locked or being changed by another program; try again later.
        public static let busy = Code(.busy)
        /// A server gave no TileJSON document.
        public static let unreachable = Code(.unreachable)

        /// The kebab-case name.
        public var description: String { name.rawValue }
    }

    /// What kind of failure it is.
    public let code: Code
    /// What failed, found and expected, what to do; no secrets.
    public let message: String
    /// The error below it.
    public let cause: (any Error)?

    init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Whether the whole origin fails at this moment, independent of single tiles.
    var isOfTheWhole: Bool { code == .busy || code == .unreadable }

    /// `code: message`.
    public var description: String { "\(code): \(message)" }
}
