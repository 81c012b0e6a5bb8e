/// Says why a region could not be found, read or imported.
public struct RegionsError: Error, Sendable, CustomStringConvertible {
    /// A stable kebab-case word for the kind of failure; texts may change, codes may not.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Name: String {
            case unknownRegion = "unknown-region"
            case ambiguousName = "ambiguous-name"
            case badResource = "bad-resource"
            case badImport = "bad-import"
            case alreadyPresent = "already-present"
            case fileFailed = "file-failed"
        }

        private let name: Name

        /// No region has that id or name.
        ///
        /// ``RegionsError/suggestions`` may help.
        public static let unknownRegion = Code(name: .unknownRegion)
        /// Several regions of the same rank have that name.
        public static let ambiguousName = Code(name: .ambiguousName)
        /// The embedded tree cannot be decoded: a damaged binary.
        public static let badResource = Code(name: .badResource)
        /// A file to import, or one imported earlier, is not what an import needs.
        public static let badImport = Code(name: .badImport)
        /// An import would replace a region, and replacing was not allowed.
        public static let alreadyPresent = Code(name: .alreadyPresent)
        /// A file could not be read or written.
        public static let fileFailed = Code(name: .fileFailed)

        /// The kebab-case word, safe as a metric label.
        public var description: String { name.rawValue }
    }

    /// What kind of failure it is.
    public let code: Code
    /// What failed, with which thing, what was found, and what to do now.
    public let message: String
    /// The failure below this one, if any.
    public let cause: (any Error)?
    /// Ids of regions that may have been meant, best first; at most five.
    public let suggestions: [String]

    init(_ code: Code, _ message: String, suggestions: [String] = [], cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.suggestions = suggestions
        self.cause = cause
    }

    /// The code and the message on one line.
    public var description: String { "\(code): \(message)" }
}
