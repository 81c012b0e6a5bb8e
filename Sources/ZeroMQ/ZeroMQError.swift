/// Why a link could not be opened or used.
public struct ZeroMQError: Error, Sendable, CustomStringConvertible {
    /// A stable code for the kind of error.
    ///
    /// Texts may change, codes may not.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Wrapped: String {
            case badEndpoint = "bad-endpoint"
            case addressInUse = "address-in-use"
            case plainRefused = "plain-refused"
            case badKey = "bad-key"
            case badRole = "bad-role"
            case keyPermissions = "key-permissions"
            case keyMissing = "key-missing"
            case keyFile = "key-file"
            case refused = "refused"
            case unreachable = "unreachable"
            case tooLarge = "too-large"
            case closed = "closed"
            case engine = "engine"
        }
        private let wrapped: Wrapped

        /// The endpoint is malformed or cannot be bound on this machine.
        public static let badEndpoint = Code(wrapped: .badEndpoint)
        /// Another process listens at this address.
        public static let addressInUse = Code(wrapped: .addressInUse)
        /// Unencrypted connections to other machines were not allowed explicitly.
        public static let plainRefused = Code(wrapped: .plainRefused)
        /// The text is not a CURVE key.
        public static let badKey = Code(wrapped: .badKey)
        /// A word in a key file is not a role.
        public static let badRole = Code(wrapped: .badRole)
        /// Other users can read a secret key.
        public static let keyPermissions = Code(wrapped: .keyPermissions)
        /// The key file, or the folder of keys, does not exist.
        public static let keyMissing = Code(wrapped: .keyMissing)
        /// A key file cannot be read or written, or is malformed.
        public static let keyFile = Code(wrapped: .keyFile)
        /// The peer refused our key or our protocol.
        public static let refused = Code(wrapped: .refused)
        /// No peer accepted the message in time.
        public static let unreachable = Code(wrapped: .unreachable)
        /// A message exceeds the limit of this side.
        public static let tooLarge = Code(wrapped: .tooLarge)
        /// The link was closed.
        public static let closed = Code(wrapped: .closed)
        /// libzmq failed in an unexpected way.
        public static let engine = Code(wrapped: .engine)

        /// The code in logs and metrics: kebab-case, safe as a metric label.
        public var description: String { wrapped.rawValue }
    }

    /// The kind of error, for programs.
    public let code: Code
    /// Text for people.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// `code: message`.
    public var description: String { "\(code): \(message)" }
}
