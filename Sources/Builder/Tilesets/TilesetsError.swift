public import Errors

/// Why a tileset cannot be used.
///
/// The message names keys and environment variables, never their secret values.
public typealias TilesetsError = PackhorseError<TilesetsErrorCode>

/// A stable, bounded name for a failure.
public enum TilesetsErrorCode: String, ErrorCode {
    /// The file cannot be read.
    case unreadable
    /// The file is neither YAML nor JSON, or its top is not a mapping.
    case badSyntax = "bad-syntax"
    /// A key that means nothing here.
    case unknownKey = "unknown-key"
    /// A required key is missing, and the source's metadata does not have it.
    case missingKey = "missing-key"
    /// A value of the wrong kind or out of range.
    case badValue = "bad-value"
    /// A URL template that cannot be expanded.
    case badTemplate = "bad-template"
    /// A TileJSON document that cannot be used.
    case badTileJSON = "bad-tilejson"
    /// The description of a map service that cannot be used, or of a layer or grid that packages cannot hold.
    case badService = "bad-service"
    /// An index of archives that cannot be used.
    case badIndex = "bad-index"
    /// A secret written into the file instead of the environment.
    case literalSecret = "literal-secret"
    /// An environment variable that holds a secret is not set.
    case missingSecret = "missing-secret"
    /// The host forbids bulk downloads.
    case hostRefused = "host-refused"

    /// The exit code of a command that ends with this.
    public var exitStatus: ExitStatus {
        switch self {
        case .unreadable: .inputOutput
        case .badSyntax,
            .unknownKey,
            .missingKey,
            .badValue,
            .badTemplate,
            .badTileJSON,
            .badService,
            .badIndex,
            .literalSecret,
            .missingSecret:
            .configuration
        case .hostRefused: .permission
        }
    }
}
