public import Errors

/// Why a style pack cannot be made or used.
///
/// The message names URLs with `{key}` in place of the key; the key itself never appears.
public struct StylesError: CodedError {
    /// A stable, bounded name for a failure.
    public enum Code: String, ErrorCode {
        /// The document is not a style, or needs something that a pack cannot contain.
        case badStyle = "bad-style"
        /// A URL that cannot be resolved or fetched.
        case badURL = "bad-url"
        /// The style needs more resources or bytes than the limits allow.
        case tooLarge = "too-large"
        /// The host forbids bulk downloads, or the style of a public host points into a private network.
        case hostRefused = "host-refused"
        /// A URL needs `{key}` or `{language}`, and none was given.
        case missingSecret = "missing-secret"
        /// The server gave no answer, or not the style.
        case unreachable
        /// Resources that a client needs cannot be fetched; fetched resources are kept, so that the next run continues.
        case missingResource = "missing-resource"
        /// A body that is not what its kind says.
        case badResource = "bad-style-resource"
        /// The folder is not a style pack, or is damaged.
        case badPack = "bad-style-pack"
        /// The target holds something else.
        case exists
        /// No space is left on the file system.
        case diskFull = "disk-full"
        /// The operating system refused a file operation.
        case io

        /// The exit code of a command that ends with this.
        public var exitStatus: ExitStatus {
            switch self {
            case .badStyle, .badURL, .tooLarge, .badResource, .badPack: .badData
            case .hostRefused: .permission
            case .missingSecret: .configuration
            case .unreachable, .missingResource: .unavailable
            case .exists, .diskFull: .cannotCreate
            case .io: .inputOutput
            }
        }
    }

    /// What kind of failure it is.
    public let code: Code
    /// What failed, what was found, what to do.
    public let message: String
    /// The error below, when there was one.
    public let cause: (any Error)?
    /// Whether the server refused permanently (404, 403, 410): another attempt soon will not help.
    public let isRefusal: Bool

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil, isRefusal: Bool = false) {
        self.isRefusal = isRefusal
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Whether an answer is a permanent refusal: 4xx except those that allow a retry.
    package static func isRefusal(status: Int) -> Bool {
        (400..<500).contains(status) && ![408, 409, 421, 423, 425, 429].contains(status)
    }

}
