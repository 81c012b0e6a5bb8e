/// A failure cause as the error below a ``StoreError``.
struct FailureReason: Error {
    var cause: FailureCause
    /// The error below, when there was one.
    var below: (any Error)?
}

extension StoreError {
    /// The failure cause, when the error has one; a task that ends with this error fails with this cause.
    public var failure: FailureCause? { (cause as? FailureReason)?.cause }

    /// Makes the error of a failure cause.
    static func failing(
        _ cause: FailureCause, _ message: String, advice: String? = nil, below: (any Error)? = nil
    ) -> StoreError {
        StoreError(
            cause.code, message, advice: advice, cause: FailureReason(cause: cause, below: below),
            isRetriable: cause == .connection || cause == .serverError)
    }
}

extension StoreError {
    /// What to do when the disk fails in another way than being full.
    static let diskAdvice = "Check the disk and the rights of the folder, then retry the task."

    /// What to do when the folder cannot be made or written.
    static let folderAdvice =
        "The folder must be on a disk that can be written, also where maps are only read. Check the disk and the rights of the folder, then open it again."

    /// What happened and what to do, for a task that fails with it.
    var text: String { "\(message)\(advice.map { " " + $0 } ?? "")" }
}

extension FailureCause {
    fileprivate var code: StoreError.Code {
        switch self {
        case .connection, .notAllowed, .limitExceeded, .tooBig, .serverError, .hostForbidsBulk: .network
        case .badCatalog, .badSignature, .olderCatalog: .catalog
        // What the catalog names and the server does not have is the publisher's fault, and no other attempt helps.
        case .notFound, .badBytes, .badFile, .badStyle: .badFile
        case .tooManyPacks, .tooManyTiles: .limit
        case .notInCatalog, .superseded: .notInCatalog
        case .invalidArguments: .invalidArguments
        case .storage, .internalError: .storage
        }
    }
}
