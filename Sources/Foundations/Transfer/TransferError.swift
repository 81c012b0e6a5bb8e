public import Errors

/// Why a transfer ended without an HTTP answer.
///
/// The message never contains a URL, a header or a body, because each of them may contain a secret.
public struct TransferError: CodedError {
    /// A stable code from a bounded set.
    ///
    /// Safe as a metric label.
    public enum Code: String, ErrorCode {
        /// The host name has no address (or the resolver did not answer).
        case resolveFailed = "resolve-failed"
        /// No connection within the connect timeout, or the connection was refused.
        case connectFailed = "connect-failed"
        /// The TLS handshake failed or the certificate is not trusted.
        case tlsFailed = "tls-failed"
        /// The whole transfer took too long or stalled.
        case timeout
        /// The body is shorter than announced.
        case truncated
        /// The body is larger than the limit; receiving stopped there.
        case tooLarge = "too-large"
        /// A part was requested, and the server sent the whole file.
        case rangeIgnored = "range-ignored"
        /// A part was requested, and the server sent another part.
        case wrongRange = "wrong-range"
        /// The connection broke in any other way.
        case transport
        /// More redirects than allowed, including a loop.
        case tooManyRedirects = "too-many-redirects"
        /// A redirect to a scheme or host that may not be followed.
        case redirectRefused = "redirect-refused"
        /// The URL or a header cannot be sent.
        case invalidRequest = "invalid-request"
        /// The caller cancelled, or the client was closed.
        case cancelled
        /// No space is left for the file that receives the body.
        case diskFull = "disk-full"
        /// The file to send or to fill could not be opened, read or written.
        case fileFailed = "file-failed"
        /// libcurl could not be initialised.
        case library = "library-failed"

        /// The exit code of a command that ends with this.
        public var exitStatus: ExitStatus {
            switch self {
            case .resolveFailed,
                .connectFailed,
                .tlsFailed,
                .timeout,
                .truncated,
                .tooLarge,
                .rangeIgnored,
                .wrongRange,
                .transport,
                .tooManyRedirects,
                .redirectRefused,
                .invalidRequest,
                .cancelled:
                .unavailable
            case .diskFull: .cannotCreate
            case .fileFailed: .inputOutput
            case .library: .software
            }
        }
    }

    /// What kind of failure it is.
    public let code: Code
    /// What failed, with found and expected values.
    public let message: String
    /// Whether a later attempt may succeed.
    public let isRetriable: Bool
    /// The media type of the answer, lower case and without parameters, for ``Code/rangeIgnored``; `nil` = unknown.
    public let mediaType: String?

    /// Creates an error; `isRetriable` says whether a later attempt may succeed.
    public init(_ code: Code, _ message: String, isRetriable: Bool = false, mediaType: String? = nil) {
        self.code = code
        self.message = message
        self.isRetriable = isRetriable
        self.mediaType = mediaType
    }

}
