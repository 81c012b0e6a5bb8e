internal import CommandSupport
import Errors
import Foundation
import Origins
import Tilesets
import Wire

/// What the command line says about an error of any module.
enum ErrorTranslation {
    /// The error as the command line reports it, or `nil` when ArgumentParser should (usage, `--help`, exit codes).
    static func cliError(_ error: any Error) -> CLIError? {
        switch error {
        case let error as CLIError: error
        case let error as OriginsError:
            CLIError(
                (error.cause as? TilesetsError)?.exitStatus ?? error.exitStatus, error.message, details: error.details,
                hint: error.hint)
        case let error as WireError where error.code != .versionMismatch:
            CLIError(error.exitStatus, error.message, hint: "is this a packhorse coordinator of the same version?")
        case let error as any CodedError:
            CLIError(error.exitStatus, error.message, details: error.details, hint: error.hint)
        case is CancellationError: CLIError(.interrupted, "interrupted")
        // An operation on files of Foundation.
        case let error as NSError where error.domain == NSCocoaErrorDomain: fileError(error)
        default: nil
        }
    }

    private static func fileError(_ error: NSError) -> CLIError {
        let place = (error.userInfo[NSFilePathErrorKey] as? String).map { "'\($0)': " } ?? ""
        let isFull = error.code == CocoaError.fileWriteOutOfSpace.rawValue
        return CLIError(
            isFull ? .cannotCreate : .inputOutput, place + error.localizedDescription,
            hint: isFull ? "free space on the disk" : nil)
    }
}
