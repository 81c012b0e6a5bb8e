/// Why a PMTiles file cannot be read.
public struct PMTilesError: Error, Sendable, CustomStringConvertible {
    /// A stable, bounded name for a failure.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Name: String {
            case unreadable
            case badArchive = "bad-archive"
            case unsupported
        }
        private let name: Name
        private init(_ name: Name) { self.name = name }

        /// The file cannot be opened or read: permissions, the limit of open files, the disk.
        ///
        /// That says nothing about its content.
        public static let unreadable = Code(.unreadable)
        /// The file is damaged or not what it should be.
        public static let badArchive = Code(.badArchive)
        /// The file is whole but uses something this build cannot read.
        public static let unsupported = Code(.unsupported)

        /// The kebab-case name.
        public var description: String { name.rawValue }
    }

    /// What kind of failure it is.
    public let code: Code
    /// What failed, found and expected, what to do.
    public let message: String
    /// The error below it.
    public let cause: (any Error)?

    init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// `code: message`.
    public var description: String { "\(code): \(message)" }
}
