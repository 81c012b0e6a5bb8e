public import Errors

/// Why a frame or message was refused; the refused bytes have changed nothing.
public struct WireError: CodedError {
    /// A stable name of what went wrong.
    ///
    /// Texts may change, codes may not.
    public enum Code: String, ErrorCode {
        /// The frame does not begin with "PKH1".
        case badMagic = "bad-magic"
        /// The frame is shorter or longer than its header says.
        case badLength = "bad-length"
        /// The CRC-32C does not match.
        case badChecksum = "bad-checksum"
        /// The sender speaks another major version, or the minor ranges do not meet.
        case versionMismatch = "version-mismatch"
        /// A message type, flag or payload this version does not know.
        case unsupported
        /// The body exceeds the bound of its type.
        case tooLarge = "too-large"
        /// A list inside the body exceeds its bound.
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

}
