/// Why a frame or message was refused.
///
/// The refused bytes have no effect.
public struct WireError: Error, Sendable, CustomStringConvertible {
    /// A stable code for the kind of error.
    ///
    /// Texts may change, codes may not.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Wrapped: String {
            case badMagic = "bad-magic"
            case badLength = "bad-length"
            case badChecksum = "bad-checksum"
            case versionMismatch = "version-mismatch"
            case unsupported = "unsupported"
            case tooLarge = "too-large"
            case tooMany = "too-many"
            case badBody = "bad-body"
            case badValue = "bad-value"
        }
        private let wrapped: Wrapped

        /// The frame does not begin with "PKH1".
        public static let badMagic = Code(wrapped: .badMagic)
        /// The frame is shorter or longer than its header says.
        public static let badLength = Code(wrapped: .badLength)
        /// The CRC-32C does not match.
        public static let badChecksum = Code(wrapped: .badChecksum)
        /// The sender uses another major version, or the minor ranges do not overlap.
        public static let versionMismatch = Code(wrapped: .versionMismatch)
        /// A message type, flag or payload that is unknown to this version.
        public static let unsupported = Code(wrapped: .unsupported)
        /// The body exceeds the limit of its type.
        public static let tooLarge = Code(wrapped: .tooLarge)
        /// A list in the body exceeds its limit.
        public static let tooMany = Code(wrapped: .tooMany)
        /// The body is not a message of its type.
        public static let badBody = Code(wrapped: .badBody)
        /// A field is missing or outside its range.
        public static let badValue = Code(wrapped: .badValue)

        /// The code in logs and metrics: kebab-case, safe as a metric label.
        public var description: String { wrapped.rawValue }
    }

    /// The kind of error, for programs.
    public let code: Code
    /// Text for people: what failed, found and expected.
    public let message: String
    /// The header, if it was complete and of our major version: enough to answer the sender.
    public let header: FrameHeader?

    init(_ code: Code, _ message: String, header: FrameHeader? = nil) {
        self.code = code
        self.message = message
        self.header = header
    }

    /// The same error with the header of the frame.
    func of(_ header: FrameHeader) -> WireError { WireError(code, message, header: header) }

    /// `code: message`.
    public var description: String { "\(code): \(message)" }
}
