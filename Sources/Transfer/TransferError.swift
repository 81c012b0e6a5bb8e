/// Why a transfer ended without an HTTP answer.
///
/// The message never contains a URL, a header or a body, because each of them may contain a secret.
public struct TransferError: Error, Sendable, CustomStringConvertible {
    /// A stable code from a bounded set.
    ///
    /// Safe as a metric label.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Name: String {
            case resolveFailed = "resolve-failed"
            case connectFailed = "connect-failed"
            case tlsFailed = "tls-failed"
            case timeout
            case truncated
            case tooLarge = "too-large"
            case transport
            case rangeIgnored = "range-ignored"
            case wrongRange = "wrong-range"
            case tooManyRedirects = "too-many-redirects"
            case redirectRefused = "redirect-refused"
            case invalidRequest = "invalid-request"
            case cancelled
            case diskFull = "disk-full"
            case fileFailed = "file-failed"
            case engine
        }
        private let name: Name
        private init(_ name: Name) { self.name = name }

        /// The host name has no address (or the resolver did not answer).
        public static let resolveFailed = Code(.resolveFailed)
        /// No connection within the connect timeout, or the connection was refused.
        public static let connectFailed = Code(.connectFailed)
        /// The TLS handshake failed or the certificate is not trusted.
        public static let tlsFailed = Code(.tlsFailed)
        /// The whole transfer took too long or stalled.
        public static let timeout = Code(.timeout)
        /// The body is shorter than announced.
        public static let truncated = Code(.truncated)
        /// The body is larger than the limit; receiving stopped there.
        public static let tooLarge = Code(.tooLarge)
        /// A part was requested, and the server sent the whole file.
        public static let rangeIgnored = Code(.rangeIgnored)
        /// A part was requested, and the server sent another part.
        public static let wrongRange = Code(.wrongRange)
        /// The connection broke in any other way.
        public static let transport = Code(.transport)
        /// More redirects than allowed, including a loop.
        public static let tooManyRedirects = Code(.tooManyRedirects)
        /// A redirect to a scheme or host that may not be followed.
        public static let redirectRefused = Code(.redirectRefused)
        /// The URL or a header cannot be sent.
        public static let invalidRequest = Code(.invalidRequest)
        /// The caller cancelled, or the client was closed.
        public static let cancelled = Code(.cancelled)
        /// No space is left for the file that receives the body.
        public static let diskFull = Code(.diskFull)
        /// The file to send or to fill could not be opened, read or written.
        public static let fileFailed = Code(.fileFailed)
        /// libcurl could not be initialised.
        public static let engine = Code(.engine)

        /// The kebab-case name.
        public var description: String { name.rawValue }
    }

    /// What kind of failure it is.
    public let code: Code
    /// What failed, with found and expected values.
    public let message: String
    /// Whether a later attempt may succeed.
    public let isRetriable: Bool

    /// Creates an error; `isRetriable` says whether a later attempt may succeed.
    public init(_ code: Code, _ message: String, isRetriable: Bool = false) {
        self.code = code
        self.message = message
        self.isRetriable = isRetriable
    }

    /// `code: message`.
    public var description: String { "\(code): \(message)" }
}
