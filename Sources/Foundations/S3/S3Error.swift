public import Errors

/// What went wrong with an S3 bucket, and what to do about it.
///
/// The message names endpoint and bucket and never contains a key, a signature or a body.
public typealias S3Error = PackhorseError<S3ErrorCode>

/// A stable, kebab-case reason: safe as a metric label and for mapping to exit codes.
public enum S3ErrorCode: String, ErrorCode {
    /// The location, endpoint or region cannot be used.
    case badLocation = "bad-endpoint"
    /// The environment holds no credentials.
    case missingSecret = "missing-secret"
    /// The endpoint is plain http and not loopback, and plain http was not allowed.
    case plainRefused = "plain-refused"
    /// No answer, or only temporary errors, for all attempts; try again later.
    case unreachable
    /// The server does not know the key, or the signature is wrong.
    case wrongSecret = "wrong-secret"
    /// This machine's clock and the server's are too far apart.
    case clockSkew = "clock-skew"
    /// The bucket lies in another region than the one signed for.
    case wrongRegion = "wrong-region"
    /// The key is known and may not do this.
    case forbidden = "refused"
    /// There is no such bucket.
    case noBucket = "no-bucket"
    /// The answer is not one that S3 gives.
    case badAnswer = "bad-answer"
    /// No space is left for a download.
    case diskFull = "disk-full"
    /// A local file could not be read or written.
    case fileFailed = "file-failed"
    /// The object is larger than expected, or than S3 allows.
    case tooLarge = "too-large"

    /// The exit code of a command that ends with this.
    public var exitStatus: ExitStatus {
        switch self {
        case .badLocation, .missingSecret, .clockSkew, .wrongRegion: .configuration
        case .plainRefused, .wrongSecret, .forbidden: .permission
        case .unreachable: .unavailable
        case .noBucket: .noInput
        case .badAnswer, .tooLarge: .badData
        case .diskFull: .cannotCreate
        case .fileFailed: .inputOutput
        }
    }
}

extension PackhorseError where Code == S3ErrorCode {
    /// Whether waiting may cure it.
    public var isRetriable: Bool { code == .unreachable }
}
