/// Why a frame or message was refused; the refused bytes have changed nothing.
public struct WireError: Error, Sendable, CustomStringConvertible {
    /// A stable name of what went wrong.
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
        /// The sender speaks another major version, or the minor ranges do not meet.
        public static let versionMismatch = Code(wrapped: .versionMismatch)
        /// A message type, flag or payload this version does not know.
        public static let unsupported = Code(wrapped: .unsupported)
        /// The body exceeds the bound of its type.
        public static let tooLarge = Code(wrapped: .tooLarge)
        /// A list inside the body exceeds its bound.
        public static let tooMany = Code(wrapped: .tooMany)
        /// The body is not a message of its type.
        public static let badBody = Code(wrapped: .badBody)
        /// A field is missing or outside its range.
        public static let badValue = Code(wrapped: .badValue)

        /// The code as it is logged and counted: kebab-case, safe as a metric label.
        public var description: String { wrapped.rawValue }
    }

    /// What went wrong, for programs.
    public let code: Code
    /// What went wrong, for people: what failed, found and expected.
    public let message: String
    /// The header, when it was whole and of our major version: enough to answer the sender.
    public let header: FrameHeader?

    init(_ code: Code, _ message: String, header: FrameHeader? = nil) {
        self.code = code
        self.message = message
        self.header = header
    }

    /// The same refusal with the header it belongs to.
    func of(_ header: FrameHeader) -> WireError { WireError(code, message, header: header) }

    /// `code: message`.
    public var description: String { "\(code): \(message)" }
}
