extension FailureCause {
    /// The cause in English words, after `failed:`.
    package var words: String {
        switch self {
        case .connection: "there is no connection"
        case .notFound: "the server does not have it"
        case .notAllowed: "the server refuses it"
        case .limitExceeded: "the server asks for payment"
        case .tooBig: "it is too big"
        case .serverError: "the server failed repeatedly"
        case .badBytes: "the bytes are not those of the catalog"
        case .badSignature: "the signature of the catalog is missing or wrong"
        case .olderCatalog: "the catalog is older than the last one"
        case .badCatalog: "the catalog cannot be read"
        case .badStyle: "the style cannot be read"
        case .badFile: "the file is damaged or of another kind"
        case .tooManyPacks: "it needs more tile packs than are allowed"
        case .tooManyTiles: "it needs more single tiles than are allowed"
        case .notInCatalog: "the catalog does not have it"
        case .hostForbidsBulk: "the tile server forbids bulk downloads"
        case .invalidArguments: "the arguments are wrong"
        case .storage: "the disk or the database failed"
        case .superseded: "the catalog no longer has it"
        case .internalError: "there is a bug in the library"
        }
    }
}
