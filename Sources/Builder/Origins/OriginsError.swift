public import Errors
public import Tilesets

/// Why an origin cannot be opened.
public typealias OriginsError = PackhorseError<OriginsErrorCode>

/// A stable, bounded name for a failure.
public enum OriginsErrorCode: String, ErrorCode {
    /// The tileset's description is refused; the cause names the key.
    case tileset
    /// A file cannot be opened or read now, independent of its content.
    case unreadable
    /// A file is damaged or not what it should be.
    case badArchive = "bad-archive"
    /// A file is whole but uses something this build cannot read.
    case unsupported
    /// A file is locked or being changed by another program, or a server has too much to do; try again later.
    case busy
    /// A server cannot be reached, or says that it cannot answer now; try again later.
    case unreachable
    /// A server answered that there is no such document, or that it does not give it.
    case refused
    /// A tile server has refused every request so far; the message says what it answered.
    case allRefused = "all-refused"

    /// What an answer means that has none of the expected statuses.
    static func answered(_ status: Int) -> Self {
        switch status {
        // Not an error of this request.
        case 429, 503: .busy
        case 408, 500...: .unreachable
        default: .refused
        }
    }

    /// The exit code of a command that ends with this.
    public var exitStatus: ExitStatus {
        switch self {
        case .tileset: .configuration
        case .unreadable: .inputOutput
        case .badArchive, .unsupported: .badData
        case .busy: .temporary
        case .unreachable, .allRefused: .unavailable
        case .refused: .noInput
        }
    }
}

extension PackhorseError where Code == OriginsErrorCode {
    /// Whether a server answered that there is no such archive: 404, 410, or a status by which the tileset's server says so.
    public func saysGone(for tileset: Tileset) -> Bool {
        guard let answered = cause as? AnsweredStatus else { return false }
        return [404, 410].contains(answered.status) || tileset.emptyStatuses?.contains(answered.status) == true
    }

    /// Whether the whole origin fails at this moment, independent of single tiles.
    var isOfTheWhole: Bool { code == .busy || code == .unreadable }
}
