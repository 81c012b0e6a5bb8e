public import Errors
import Foundation

/// What went wrong with a shard or a blob store, and what to do about it.
public typealias StorageError = PackhorseError<StorageErrorCode>

/// A stable, kebab-case reason: safe as a metric label and for mapping to exit codes.
public enum StorageErrorCode: String, ErrorCode {
    /// No space (or quota) is left on the file system.
    ///
    /// Free some space and try again; nothing was lost.
    case diskFull = "disk-full"
    /// The operating system refused a file operation.
    case io
    /// The file does not begin or end like a shard.
    case notAShard = "not-a-shard"
    /// The shard was written by another version of the format.
    case unsupportedVersion = "unsupported-version"
    /// The shard's bytes contradict its checksums or its own structure.
    case corrupt = "corrupt-shard"
    /// The file is not the one asked for.
    case digestMismatch = "digest-mismatch"
    /// More tiles, or a larger body, than a shard may hold.
    case limitExceeded = "limit-exceeded"
    /// A tile outside the shard's cell or zooms, or one added twice.
    case badTile = "bad-tile"
    /// The blob store does not hold the blob asked for.
    case missing = "missing-blob"
    /// There is no blob store in the folder.
    case storeMissing = "store-missing"
    /// The caller used a finished writer.
    case misuse

    /// The exit code of a command that ends with this.
    public var exitStatus: ExitStatus {
        switch self {
        case .diskFull: .cannotCreate
        case .io: .inputOutput
        case .notAShard, .unsupportedVersion, .corrupt, .digestMismatch, .limitExceeded, .badTile: .badData
        case .missing, .storeMissing: .noInput
        case .misuse: .software
        }
    }
}

extension PackhorseError where Code == StorageErrorCode {
    /// Makes the error for a failed system call; a full disk or quota becomes `disk-full`.
    ///
    /// - Parameters:
    ///   - number: The call's `errno`.
    ///   - action: What was attempted, as a verb: "write", "rename".
    ///   - path: The file it was attempted on.
    public static func system(_ number: Int32, action: String, path: String) -> StorageError {
        if number == ENOSPC || number == EDQUOT {
            return StorageError(
                .diskFull,
                "No space left to \(action) '\(path)'. Free some space on that file system."
            )
        }
        return StorageError(.io, "Cannot \(action) '\(path)': \(String(cString: strerror(number))).")
    }
}
