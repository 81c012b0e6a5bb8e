public import Errors

/// Why a frame or message was refused.
///
/// The refused bytes have no effect.
public struct WireError: CodedError {
    /// A stable code for the kind of error.
    ///
    /// Texts may change, codes may not.
    public enum Code: String, ErrorCode {
        /// The frame does not begin with "PKH1".
        case badMagic = "bad-magic"
        /// The frame is shorter or longer than its header says.
        case badLength = "bad-length"
        /// The CRC-32C does not match.
        case badChecksum = "bad-checksum"
        /// The sender uses another major version, or the minor ranges do not overlap.
        case versionMismatch = "version-mismatch"
        /// A message type, flag or payload that is unknown to this version.
        case unsupported
        /// The body exceeds the limit of its type.
        case tooLarge = "too-large"
        /// A list in the body exceeds its limit.
        case tooMany = "too-many"
        /// The body is not a message of its type.
        case badBody = "bad-body"
        /// A field is missing or outside its range.
        case badValue = "bad-value"

        /// The exit code of a command that ends with this.
        public var exitStatus: ExitStatus {
            switch self {
            case .badMagic,
                .badLength,
                .badChecksum,
                .unsupported,
                .tooLarge,
                .tooMany,
                .badBody,
                .badValue:
                .unavailable
            case .versionMismatch: .configuration
            }
        }
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

}
