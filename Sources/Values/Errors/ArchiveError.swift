/// Why a tile archive, local or remote, cannot be read.
public typealias ArchiveError = PackhorseError<ArchiveErrorCode>

/// A stable, bounded name for a failure.
public enum ArchiveErrorCode: String, ErrorCode {
    /// The file cannot be opened or read: it is missing, permissions, the limit of open files, the disk.
    ///
    /// That says nothing about its content.
    case unreadable
    /// Another program locks or changes the file; try again later.
    case busy
    /// The file is damaged or not what it should be.
    case badArchive = "bad-archive"
    /// The file is whole but uses something this build cannot read.
    case unsupported
    /// What the file has for one tile is no tile; its other tiles can be read.
    case badTile = "bad-tile"
    /// The file has different whole bodies for one tile, and nothing says which is right.
    case conflictingTiles = "conflicting-tiles"

    /// The exit code of a command that ends with this.
    public var exitStatus: ExitStatus {
        switch self {
        case .unreadable: .inputOutput
        case .busy: .temporary
        case .badArchive, .unsupported, .badTile, .conflictingTiles: .badData
        }
    }
}
