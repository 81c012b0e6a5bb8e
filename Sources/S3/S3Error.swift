/// What went wrong with an S3 bucket, and what to do about it.
///
/// The message names endpoint and bucket and never contains a key, a signature or a body.
public struct S3Error: Error, Sendable, CustomStringConvertible {
    /// A stable, kebab-case reason: safe as a metric label and for mapping to exit codes.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Reason: String {
            case badLocation = "bad-endpoint"
            case missingSecret = "missing-secret"
            case plainRefused = "plain-refused"
            case unreachable = "unreachable"
            case wrongSecret = "wrong-secret"
            case clockSkew = "clock-skew"
            case wrongRegion = "wrong-region"
            case forbidden = "refused"
            case noBucket = "no-bucket"
            case badAnswer = "bad-answer"
            case diskFull = "disk-full"
            case fileFailed = "file-failed"
            case tooLarge = "too-large"
        }
        private let reason: Reason
        private init(_ reason: Reason) { self.reason = reason }
        /// The location, endpoint or region cannot be used.
        public static let badLocation = Code(.badLocation)
        /// The environment holds no credentials.
        public static let missingSecret = Code(.missingSecret)
        /// The endpoint is plain http and not loopback, and plain http was not allowed.
        public static let plainRefused = Code(.plainRefused)
        /// No answer, or only temporary errors, for all attempts; try again later.
        public static let unreachable = Code(.unreachable)
        /// The server does not know the key, or the signature is wrong.
        public static let wrongSecret = Code(.wrongSecret)
        /// This machine's clock and the server's are too far apart.
        public static let clockSkew = Code(.clockSkew)
        /// The bucket lies in another region than the one signed for.
        public static let wrongRegion = Code(.wrongRegion)
        /// The key is known and may not do this.
        public static let forbidden = Code(.forbidden)
        /// There is no such bucket.
        public static let noBucket = Code(.noBucket)
        /// The answer is none that S3 gives.
        public static let badAnswer = Code(.badAnswer)
        /// No space is left for a download.
        public static let diskFull = Code(.diskFull)
        /// A local file could not be read or written.
        public static let fileFailed = Code(.fileFailed)
        /// The object is larger than expected, or than S3 allows.
        public static let tooLarge = Code(.tooLarge)
        /// The kebab-case text of the code.
        public var description: String { reason.rawValue }
    }

    /// The reason, for programs.
    public let code: Code
    /// What failed, which thing, what was found and what to do, for people.
    public let message: String

    /// Makes an error from its parts.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message, followed by the code in brackets.
    public var description: String { "\(message) [\(code)]" }

    /// Whether waiting may cure it.
    public var isRetriable: Bool { code == .unreachable }
}
