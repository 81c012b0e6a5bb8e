public import Errors

/// Says why a region could not be found, read or imported.
public struct RegionsError: CodedError {
    /// A stable kebab-case word for the kind of failure; texts may change, codes may not.
    public enum Code: String, ErrorCode {
        /// No region has that id or name.
        ///
        /// ``RegionsError/suggestions`` may help.
        case unknownRegion = "unknown-region"
        /// Several regions of the same rank have that name.
        case ambiguousName = "ambiguous-name"
        /// The embedded tree cannot be decoded: a damaged binary.
        case badResource = "bad-resource"
        /// A file to import, or one imported earlier, is not what an import needs.
        case badImport = "bad-import"
        /// An import would replace a region, and replacing was not allowed.
        case alreadyPresent = "already-present"
        /// A file could not be read or written.
        case fileFailed = "file-failed"

        /// The exit code of a command that ends with this.
        public var exitStatus: ExitStatus {
            switch self {
            case .unknownRegion, .ambiguousName: .noInput
            case .badResource: .software
            case .badImport: .badData
            case .alreadyPresent: .cannotCreate
            case .fileFailed: .inputOutput
            }
        }
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

}
