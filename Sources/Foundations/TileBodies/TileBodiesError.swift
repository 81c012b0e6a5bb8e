public import Errors

/// Why a tile body was refused.
public typealias TileBodiesError = PackhorseError<TileBodiesErrorCode>

/// A stable kebab-case reason, safe as a metric label and in a job's report.
public enum TileBodiesErrorCode: String, ErrorCode {
    /// The body has no bytes: record the tile as empty.
    case emptyBody = "empty-body"
    /// An HTML page, usually an error page sent with status 200.
    case htmlPage = "html-page"
    /// A whole body of another type than the tileset declares.
    case wrongType = "wrong-type"
    /// The body ends before it says it does.
    case truncated
    /// The body, or what it unpacks to, is larger than the limit.
    case tooLarge = "too-large"
    /// A packed stream (gzip, deflate, brotli, zstd) that is truncated, damaged, or followed by other bytes.
    case badCoding = "bad-coding"
    /// Breaks the rules of a Mapbox Vector Tile.
    case badMVT = "bad-mvt"
    /// Breaks the rules of a MapLibre Tile.
    case badMLT = "bad-mlt"
    /// Breaks the rules of its picture format, its checksums included; the text names the format.
    case badImage = "bad-image"
    /// A body that the tileset names as a refusal.
    case rejectedBody = "rejected-body"
    /// Breaks the rules of a range of glyphs.
    case badGlyphs = "bad-glyphs"
    /// A delta that is damaged, or was made for another body.
    case badDelta = "bad-delta"

    /// The exit code of a command that ends with this.
    public var exitStatus: ExitStatus {
        switch self {
        case .emptyBody,
            .htmlPage,
            .wrongType,
            .truncated,
            .tooLarge,
            .badCoding,
            .badMVT,
            .badMLT,
            .badImage,
            .rejectedBody,
            .badGlyphs,
            .badDelta:
            .badData
        }
    }
}
