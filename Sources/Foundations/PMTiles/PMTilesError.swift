public import Errors

/// Why a PMTiles file cannot be read.
public typealias PMTilesError = PackhorseError<PMTilesErrorCode>

/// A stable, bounded name for a failure.
public enum PMTilesErrorCode: String, ErrorCode {
    /// The file cannot be opened or read: permissions, the limit of open files, the disk.
    ///
    /// That says nothing about its content.
    case unreadable
    /// The file is damaged or not what it should be.
    case badArchive = "bad-archive"
    /// The file is whole but uses something this build cannot read.
    case unsupported

    /// The exit code of a command that ends with this.
    public var exitStatus: ExitStatus {
        switch self {
        case .unreadable: .inputOutput
        case .badArchive, .unsupported: .badData
        }
    }
}
