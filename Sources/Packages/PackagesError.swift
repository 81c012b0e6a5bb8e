internal import GRDB
internal import SQLiteFiles
public import Shards

/// What went wrong with a package, and what to do about it.
public struct PackagesError: Error, Sendable, CustomStringConvertible {
    /// A stable, kebab-case reason: safe as a metric label and for mapping to exit codes.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Reason: String, Sendable {
            case diskFull = "disk-full"
            case io = "io"
            case badPatch = "bad-patch"
            case patchMismatch = "patch-mismatch"
            case badShard = "bad-shard"
            case badSpec = "bad-spec"
            case missingTiles = "missing-tiles"
            case conflictingTiles = "conflicting-tiles"
            case tooLarge = "too-large"
            case verificationFailed = "verification-failed"
            case database = "database"
            case unknownFormat = "unknown-format"
            case unsupported = "unsupported"
            case exists = "exists"
            case badSource = "bad-source"
            case busy = "busy"
        }
        private let reason: Reason
        /// No space is left on the file system.
        ///
        /// Free some space and merge again.
        public static let diskFull = Code(reason: .diskFull)
        /// The operating system refused a file operation.
        public static let io = Code(reason: .io)
        /// The patch is damaged, or is not a patch.
        ///
        /// Fetch it again, or the whole package.
        public static let badPatch = Code(reason: .badPatch)
        /// The patch was made for another version than the given one.
        public static let patchMismatch = Code(reason: .patchMismatch)
        /// A shard is missing, or its bytes are wrong: ``PackagesError/shard`` says which.
        ///
        /// Fetch its batch again.
        public static let badShard = Code(reason: .badShard)
        /// The package's description contradicts itself.
        public static let badSpec = Code(reason: .badSpec)
        /// The shards do not mention every tile of the mask.
        public static let missingTiles = Code(reason: .missingTiles)
        /// Two shards have different content for one tile.
        public static let conflictingTiles = Code(reason: .conflictingTiles)
        /// The package has more different bodies than it can number (2^32 - 1).
        public static let tooLarge = Code(reason: .tooLarge)
        /// The finished package did not pass its own verification.
        public static let verificationFailed = Code(reason: .verificationFailed)
        /// SQLite reported an error.
        public static let database = Code(reason: .database)
        /// There is no format of that name.
        public static let unknownFormat = Code(reason: .unknownFormat)
        /// The format exists, but not for this content or this writer.
        public static let unsupported = Code(reason: .unsupported)
        /// The target file already exists.
        public static let exists = Code(reason: .exists)
        /// The source file cannot be read in its format.
        public static let badSource = Code(reason: .badSource)
        /// The file is locked or being changed by another program; try again later.
        public static let busy = Code(reason: .busy)
        /// The kebab-case text of the code.
        public var description: String { reason.rawValue }
    }

    /// The reason, for programs.
    public let code: Code
    /// What failed, which thing, what was found and what to do, for people.
    public let message: String
    /// The shard to fetch again, for `bad-shard`.
    public let shard: Digest?
    /// The error below, when there was one.
    public let cause: (any Error)?

    /// Makes an error from its parts.
    public init(_ code: Code, _ message: String, shard: Digest? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.shard = shard
        self.cause = cause
    }

    /// The message, followed by the code in brackets.
    public var description: String { "\(message) [\(code)]" }

    /// Translates a SQLite read error that is not caused by the file's content into `busy` or `io`, with a remedy.
    ///
    /// `nil` if the content is the cause.
    package static func passing(_ error: any Error, path: String) -> PackagesError? {
        SQLiteFault.explanation(error, path: path).map {
            PackagesError(SQLiteFault(error) == .busy ? .busy : .io, $0, cause: error)
        }
    }

    /// Converts an error of a lower layer; "disk full" stays "disk full", whichever layer reported it.
    static func wrapping(_ error: any Error, path: String) -> any Error {
        switch error {
        case let error as ShardsError:
            PackagesError(error.code == .diskFull ? .diskFull : .io, error.message, cause: error)
        case let error as DatabaseError where error.resultCode == .SQLITE_FULL:
            PackagesError(
                .diskFull, "No space left to write '\(path)'. Free some space on that file system and merge again.",
                cause: error)
        case let error as DatabaseError:
            PackagesError(
                .database, "SQLite cannot write '\(path)': \(error.message ?? "unknown error").", cause: error)
        default: error
        }
    }

    /// Converts an error that a shard caused; a full disk is not caused by the shard.
    static func blaming(_ shard: Digest, for error: ShardsError) -> PackagesError {
        error.code == .diskFull
            ? PackagesError(.diskFull, error.message, cause: error)
            : PackagesError(.badShard, "Shard \(shard) cannot be used: \(error.message)", shard: shard, cause: error)
    }
}
