internal import GRDB
internal import SQLiteFiles
public import Shards
public import Errors

/// What went wrong with a package, and what to do about it.
public struct PackagesError: CodedError {
    /// A stable, kebab-case reason: safe as a metric label and for mapping to exit codes.
    public enum Code: String, ErrorCode {
        /// No space is left on the file system.
        ///
        /// Free some and merge again.
        case diskFull = "disk-full"
        /// The operating system refused a file operation.
        case io
        /// The patch is damaged, or no patch at all.
        ///
        /// Fetch it again, or the whole package.
        case badPatch = "bad-patch"
        /// The patch was made for another version than the one at hand.
        case patchMismatch = "patch-mismatch"
        /// A shard is not there, or its bytes are wrong: ``PackagesError/shard`` says which.
        ///
        /// Fetch its batch again.
        case badShard = "bad-shard"
        /// The package's description contradicts itself.
        case badSpec = "bad-spec"
        /// The shards do not mention every tile of the mask.
        case missingTiles = "missing-tiles"
        /// Two shards tell different things about one tile.
        case conflictingTiles = "conflicting-tiles"
        /// More different bodies than a package can number (2^32 - 1).
        case tooLarge = "too-large"
        /// The finished package did not pass its own verification.
        case verificationFailed = "verification-failed"
        /// SQLite refused.
        case database
        /// There is no format of that name.
        case unknownFormat = "unknown-format"
        /// The format exists, but not for this content or this writer.
        case unsupported
        /// A file of the target's name is there already.
        case exists
        /// The file to be converted cannot be read as what it claims to be.
        case badSource = "bad-source"
        /// The file is locked or being changed by another program; later it can be read.
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

    /// What SQLite's refusal to read a file means when the file's content is not at fault: `busy` or `io`, with a remedy.
    ///
    /// `nil` when the content is at fault.
    package static func passing(_ error: any Error, path: String) -> PackagesError? {
        SQLiteFault.explanation(error, path: path).map {
            PackagesError(SQLiteFault(error) == .busy ? .busy : .io, $0, cause: error)
        }
    }

    /// Names an error from below: a full disk stays a full disk, whoever noticed it.
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

    /// Names what a shard did wrong; a full disk is not the shard's fault.
    static func blaming(_ shard: Digest, for error: ShardsError) -> PackagesError {
        error.code == .diskFull
            ? PackagesError(.diskFull, error.message, cause: error)
            : PackagesError(.badShard, "Shard \(shard) cannot be used: \(error.message)", shard: shard, cause: error)
    }
}
