public import Errors
import TileBodies
import Transfer

/// The cause that each error of this module and of those below is reported as.
///
/// An error code is not a cause: the same word may mean another thing. So each code is assigned here, one by one.
extension FailureCause {
    /// An error that concerns a whole source: no batch of it succeeds now.
    public init(_ code: OriginsErrorCode) {
        self =
            switch code {
            case .tileset: .badTileset
            case .unreadable: .originUnreadable
            case .badArchive: .originBadArchive
            case .unsupported: .originUnsupported
            case .busy: .originBusy
            case .unreachable: .originUnreachable
            case .refused: .originRefused
            case .allRefused: .allRefused
            }
    }

    /// A body that is not a tile.
    init(_ code: TileBodiesErrorCode) {
        self =
            switch code {
            case .emptyBody: .emptyBody
            case .htmlPage: .htmlPage
            case .wrongType: .wrongType
            case .truncated: .truncated
            case .tooLarge: .tooLarge
            case .badCoding: .badCoding
            case .badMVT: .badMVT
            case .badMLT: .badMLT
            case .badImage: .badImage
            case .rejectedBody: .rejectedBody
            // Of resources of styles and of patches, which no origin has.
            case .badGlyphs, .badDelta: .internal
            }
    }

    /// A request that no server answered.
    init(_ code: TransferError.Code) {
        self =
            switch code {
            case .resolveFailed: .resolveFailed
            case .connectFailed: .connectFailed
            case .tlsFailed: .tlsFailed
            case .timeout: .timeout
            case .truncated: .truncated
            case .tooLarge: .tooLarge
            case .rangeIgnored, .wrongRange: .unsupported
            case .transport: .transport
            case .tooManyRedirects: .tooManyRedirects
            case .redirectRefused: .redirectRefused
            case .invalidRequest: .invalidRequest
            case .cancelled: .cancelled
            case .diskFull: .diskFull
            case .fileFailed: .inputOutput
            case .library: .library
            }
    }

    /// Whether a body that was received failed a check.
    public var isOfBody: Bool {
        self == .leftOut || TileBodiesErrorCode.allCases.contains { FailureCause($0) == self && self != .internal }
    }
}
