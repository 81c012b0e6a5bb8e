import Foundation

/// What went wrong with a shard or a blob store, and what to do about it.
public struct ShardsError: Error, Sendable, CustomStringConvertible {
    /// A stable, kebab-case reason: safe as a metric label and for mapping to exit codes.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Reason: String, Sendable {
            case diskFull = "disk-full"
            case io = "io"
            case notAShard = "not-a-shard"
            case unsupportedVersion = "unsupported-version"
            case corrupt = "corrupt-shard"
            case digestMismatch = "digest-mismatch"
            case limitExceeded = "limit-exceeded"
            case badTile = "bad-tile"
            case missing = "missing-blob"
            case storeMissing = "store-missing"
            case misuse = "misuse"
        }
        private let reason: Reason
        /// No space (or quota) is left on the file system.
        ///
        /// Free some space and try again; nothing was lost.
        public static let diskFull = Code(reason: .diskFull)
        /// The operating system refused a file operation.
        public static let io = Code(reason: .io)
        /// The file does not begin or end like a shard.
        public static let notAShard = Code(reason: .notAShard)
        /// The shard was written by another version of the format.
        public static let unsupportedVersion = Code(reason: .unsupportedVersion)
        /// The shard's bytes contradict its checksums or its own structure.
        public static let corrupt = Code(reason: .corrupt)
        /// The file is not the one asked for.
        public static let digestMismatch = Code(reason: .digestMismatch)
        /// More tiles, or a larger body, than a shard may hold.
        public static let limitExceeded = Code(reason: .limitExceeded)
        /// A tile outside the shard's cell or zooms, or one added twice.
        public static let badTile = Code(reason: .badTile)
        /// The blob store does not hold the blob asked for.
        public static let missing = Code(reason: .missing)
        /// There is no blob store in the folder.
        public static let storeMissing = Code(reason: .storeMissing)
        /// The caller used a finished writer.
        public static let misuse = Code(reason: .misuse)
        /// The kebab-case text of the code.
        public var description: String { reason.rawValue }
    }

    /// The reason, for programs.
    public let code: Code
    /// What failed, which thing, what was found and what to do, for people.
    public let message: String
    /// The error below, when there was one.
    public let cause: (any Error)?

    /// Makes an error from its parts.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The message, followed by the code in brackets.
    public var description: String { "\(message) [\(code)]" }

    /// Makes the error for a failed system call; a full disk or quota becomes `disk-full`.
    ///
    /// - Parameters:
    ///   - number: The call's `errno`.
    ///   - action: What was attempted, as a verb: "write", "rename".
    ///   - path: The file it was attempted on.
    public static func system(_ number: Int32, _ action: String, _ path: String) -> ShardsError {
        if number == ENOSPC || number == EDQUOT {
            return ShardsError(
                .diskFull,
                "No space left to \(action) '\(path)'. Free some space on that file system; the work then resumes."
            )
        }
        return ShardsError(.io, "Cannot \(action) '\(path)': \(String(cString: strerror(number))).")
    }
}
