public import Digests
public import Errors
package import Files
internal import GRDB
internal import SQLiteFiles

/// What went wrong with a package, and what to do about it.
public struct PackagesError: CodedError {
    /// A stable, kebab-case reason: safe as a metric label and for mapping to exit codes.
    public enum Code: String, ErrorCode {
        /// No space is left on the file system.
        ///
        /// Free some space and repeat the work.
        case diskFull = "disk-full"
        /// The operating system refused a file operation.
        case io
        /// The patch is damaged, or is not a patch.
        ///
        /// Fetch it again, or the whole package.
        case badPatch = "bad-patch"
        /// The patch was made for another version than the given one.
        case patchMismatch = "patch-mismatch"
        /// A shard is missing, or its bytes are wrong: ``PackagesError/shard`` says which.
        ///
        /// Fetch its batch again.
        case badShard = "bad-shard"
        /// The package's description contradicts itself.
        case badSpec = "bad-spec"
        /// The shards do not mention every tile of the mask.
        case missingTiles = "missing-tiles"
        /// Two shards have different content for one tile.
        case conflictingTiles = "conflicting-tiles"
        /// The package has more different bodies than it can number (2^32 - 1).
        case tooLarge = "too-large"
        /// The finished package did not pass its own verification.
        case verificationFailed = "verification-failed"
        /// SQLite reported an error.
        case database
        /// There is no format of that name.
        case unknownFormat = "unknown-format"
        /// The format exists, but not for this content or this writer.
        case unsupported
        /// The target file already exists.
        case exists
        /// The source file cannot be read in its format.
        case badSource = "bad-source"
        /// The file is locked or being changed by another program; try again later.
        case busy

        /// The exit code of a command that ends with this.
        public var exitStatus: ExitStatus {
            switch self {
            case .diskFull, .exists: .cannotCreate
            case .io, .database: .inputOutput
            case .badPatch,
                .patchMismatch,
                .badShard,
                .badSpec,
                .missingTiles,
                .conflictingTiles,
                .tooLarge,
                .verificationFailed,
                .unsupported,
                .badSource:
                .badData
            case .unknownFormat: .usage
            case .busy: .temporary
            }
        }
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

    /// Translates a SQLite read error that is not caused by the file's content into `busy` or `io`, with a remedy.
    ///
    /// `nil` if the content is the cause.
    package static func passing(_ error: any Error, path: String) -> PackagesError? {
        SQLiteFault.explanation(error, path: path).map {
            PackagesError(SQLiteFault(error) == .busy ? .busy : .io, $0, cause: error)
        }
    }

    /// Converts an error of a lower layer; "disk full" stays "disk full", whichever layer reported it.
    package static func wrapping(_ error: any Error, path: String) -> any Error {
        switch error {
        case let error as ArchiveError: PackagesError(error)
        case let error as StorageError:
            PackagesError(error.code == .diskFull ? .diskFull : .io, error.message, cause: error)
        case let error as DatabaseError where error.resultCode == .SQLITE_FULL:
            PackagesError(
                .diskFull, "No space left to write '\(path)'. Free some space on that file system.",
                cause: error)
        case let error as DatabaseError:
            PackagesError(
                .database, "SQLite cannot write '\(path)': \(error.message ?? "unknown error").", cause: error)
        default: error
        }
    }

    /// Converts an error that a shard caused; a full disk is not caused by the shard.
    package static func blaming(_ shard: Digest, for error: StorageError) -> PackagesError {
        error.code == .diskFull
            ? PackagesError(.diskFull, error.message, cause: error)
            : PackagesError(.badShard, "Shard \(shard) cannot be used: \(error.message)", shard: shard, cause: error)
    }
}
