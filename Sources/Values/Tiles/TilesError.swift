public import Errors

/// An error about a value of this module, with a stable code and a message that names found and expected values.
public typealias TilesError = PackhorseError<TilesErrorCode>

/// A stable, bounded name of the kind of error; safe as a metric label.
public enum TilesErrorCode: String, ErrorCode {
    /// A zoom or zoom range that is not within 0...22 or not a number.
    case badZoom = "bad-zoom"
    /// A bounding box that cannot be read or has coordinates outside the world.
    case badBox = "bad-box"
    /// A GeoJSON text that cannot be read or has coordinates outside the world.
    case badGeometry = "bad-geometry"
    /// A tile mask, binary or text, that cannot be decoded.
    case badMask = "bad-mask"
    /// A margin that is not a distance, or grows with the zoom.
    case badMargin = "bad-margin"

    /// The exit code of a command that ends with this.
    public var exitStatus: ExitStatus {
        switch self {
        case .badZoom, .badBox, .badMargin: .usage
        case .badGeometry, .badMask: .badData
        }
    }
}
