package import Errors

/// Why a file with an area cannot be used.
package typealias AreaFileError = PackhorseError<AreaFileErrorCode>

/// A stable, bounded name for a failure.
package enum AreaFileErrorCode: String, ErrorCode {
    /// The content is damaged, of an unknown format, in another reference system, or outside of the map.
    case badArea = "bad-area"
    /// The file is too large, or unpacks to too much.
    case tooLarge = "too-large"
    /// The format is read by a program that is not installed.
    case needsProgram = "needs-program"
    /// Reading failed.
    case unreadable

    /// The exit code of a command that ends with this.
    package var exitStatus: ExitStatus {
        switch self {
        case .badArea, .tooLarge, .needsProgram: .badData
        case .unreadable: .inputOutput
        }
    }
}

extension PackhorseError where Code == AreaFileErrorCode {
    /// A fault at a line of the file.
    static func line(_ line: Int, _ what: String, hint: String? = nil) -> AreaFileError {
        AreaFileError(.badArea, "line \(line): \(what)", hint: hint)
    }
}
