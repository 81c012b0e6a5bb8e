/// Why a request gets an error: the `code` of an answer, and its page at `/problems/CODE`.
///
/// Texts may change, codes may not.
enum ProblemCode: String, Sendable, Hashable, CaseIterable {
    case badPath = "bad-path"
    case badParameter = "bad-parameter"
    case unknownToken = "unknown-token"
    case tokenNeeded = "token-needed"
    case tokenNotEncrypted = "token-not-encrypted"
    case forbidden
    case quotaSpent = "quota-spent"
    case tooManyRequests = "too-many-requests"
    case notFound = "not-found"
    case noSuchTile = "no-such-tile"
    case outside = "outside-the-package"
    case methodNotAllowed = "method-not-allowed"
    case preconditionFailed = "precondition-failed"
    case unsatisfiableRange = "unsatisfiable-range"
    case badJSON = "bad-json"
    case wrongRequest = "wrong-request"
    case unknownThing = "unknown-thing"
    case refused
    case requestIDTaken = "request-id-taken"
    case tooLarge = "too-large"
    case bodyCut = "body-cut"
    case unsupportedMediaType = "unsupported-media-type"
    case tryLater = "try-later"
    case coordinatorAway = "coordinator-away"
    case otherVersion = "other-version"
    case noCoordinator = "no-coordinator"
    case areaTooBig = "area-too-big"
    case extractFailed = "extract-failed"
    case tilesetAway = "tileset-away"
    case damaged
    case catalogAway = "catalog-away"
    case internalError = "internal-error"

    /// The status of the answer.
    var status: Int {
        switch self {
        case .badPath, .badParameter, .noSuchTile, .badJSON, .bodyCut: 400
        case .unknownToken, .tokenNeeded: 401
        case .quotaSpent: 402
        case .tokenNotEncrypted, .forbidden: 403
        case .notFound, .outside, .unknownThing, .noCoordinator: 404
        case .methodNotAllowed: 405
        case .preconditionFailed: 412
        case .unsatisfiableRange: 416
        case .areaTooBig: 406
        case .refused: 409
        case .tooLarge: 413
        case .unsupportedMediaType: 415
        case .wrongRequest, .requestIDTaken: 422
        case .tooManyRequests: 429
        case .extractFailed, .otherVersion: 502
        case .tryLater, .coordinatorAway: 503
        case .damaged, .internalError: 500
        case .catalogAway, .tilesetAway: 503
        }
    }

    /// One line for people, the same for all answers of the code.
    var title: String {
        switch self {
        case .badPath: "The address cannot be read"
        case .badParameter: "A parameter has a value that is not allowed"
        case .unknownToken: "The token is not known"
        case .tokenNeeded: "A token is needed"
        case .tokenNotEncrypted: "Tokens are not taken on this connection"
        case .forbidden: "The token may not do this"
        case .quotaSpent: "The quota of the token is used up"
        case .tooManyRequests: "Too many requests"
        case .notFound: "There is nothing at this address"
        case .noSuchTile: "No map has such a tile"
        case .outside: "The tile is outside of the package"
        case .methodNotAllowed: "The method is not allowed here"
        case .preconditionFailed: "A condition of the request does not hold"
        case .unsatisfiableRange: "No byte is in the requested range"
        case .badJSON: "The body is not the expected JSON"
        case .wrongRequest: "The request is wrong"
        case .unknownThing: "The job, batch, schedule or worker does not exist"
        case .refused: "The coordinator refuses the request in its present state"
        case .requestIDTaken: "The idempotency key belongs to another request"
        case .tooLarge: "The request is too large"
        case .bodyCut: "The body of the request ended early"
        case .unsupportedMediaType: "The type of the body is not supported"
        case .tryLater: "The coordinator cannot do this now"
        case .coordinatorAway: "The coordinator does not answer"
        case .otherVersion: "The coordinator has another version"
        case .noCoordinator: "This gateway has no coordinator"
        case .areaTooBig: "The area has too many tiles"
        case .extractFailed: "The package could not be built"
        case .tilesetAway: "A tileset cannot be read now"
        case .damaged: "A file of the catalog is damaged"
        case .catalogAway: "The catalog cannot be read now"
        case .internalError: "The gateway failed"
        }
    }

    /// What to do.
    var remedy: String {
        switch self {
        case .badPath: "Escape each segment of the path once; use no dot segments."
        case .badParameter: "Correct the parameter that 'detail' names."
        case .unknownToken: "Check the token, or ask the operator of the server for a new one."
        case .tokenNeeded: "Send the header 'Authorization: Bearer TOKEN'."
        case .tokenNotEncrypted: "Use the address of the encrypting proxy in front of this server."
        case .forbidden: "Use a token with the role that 'detail' names."
        case .quotaSpent: "Try again tomorrow (UTC), or ask the operator of the server for a larger quota."
        case .tooManyRequests: "Try again after the seconds of Retry-After."
        case .notFound: "Read /catalog.json for the files and /openapi.json for the endpoints."
        case .noSuchTile: "Use zooms 0 to 22, and columns and rows below 2 to the power of the zoom."
        case .outside: "Use a package that holds the place, or draw the parent tile."
        case .methodNotAllowed: "Use a method of the header Allow."
        case .preconditionFailed: "Ask for the present state with GET."
        case .unsatisfiableRange: "Use the length after the slash in Content-Range."
        case .badJSON: "Send a JSON document as /openapi.json describes it."
        case .wrongRequest: "Correct what 'detail' names."
        case .unknownThing: "List the existing ones first."
        case .refused: "Read the state of the job first; 'detail' says what is in the way."
        case .requestIDTaken: "Use a new Idempotency-Key for another request."
        case .tooLarge: "Send less; 'detail' has the limit."
        case .bodyCut: "Send the whole request again."
        case .unsupportedMediaType: "Send 'Content-Type: application/json'."
        case .tryLater: "Try again after the seconds of Retry-After."
        case .coordinatorAway: "Try again after the seconds of Retry-After; published files are served meanwhile."
        case .otherVersion: "Tell the operator: gateway and coordinator need the same version."
        case .noCoordinator: "Use a gateway that was started with --coordinator."
        case .areaTooBig: "Ask for a smaller area, or fewer zooms."
        case .extractFailed: "Read what 'detail' says; ask again later, or for another area."
        case .tilesetAway: "Try again after the seconds of Retry-After; 'detail' says what is missing."
        case .damaged: "Tell the operator of the server; 'packhorse catalog verify' names damaged files."
        case .catalogAway: "Try again after the seconds of Retry-After."
        case .internalError: "Report the request id of the answer to the operator of the server."
        }
    }

    /// Whether the same request may succeed later without any change.
    var isRetriable: Bool {
        switch self {
        case .catalogAway, .tilesetAway, .tooManyRequests, .quotaSpent, .tryLater, .coordinatorAway, .bodyCut: true
        default: false
        }
    }
}
