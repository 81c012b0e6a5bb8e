extension StoreError {
    /// Why a catalog was not read from its server, with its address and the remedy.
    ///
    /// - Parameters:
    ///   - isHeldBack: Whether the app holds all requests back.
    ///   - text: What its server has said, where that is known.
    static func catalogNotRead(
        _ address: String, _ cause: FailureCause, isHeldBack: Bool, text: String? = nil
    ) -> StoreError {
        let (problem, advice) = words(cause, isHeldBack: isHeldBack)
        var error = failing(cause, "The catalog '\(address)' was not read: \(text ?? problem).", advice: advice)
        // The server has answered: another attempt without a change gives the same.
        if cause == .notFound { error.code = .catalog }
        return error
    }

    private static func words(_ cause: FailureCause, isHeldBack: Bool) -> (problem: String, advice: String) {
        switch cause {
        case .connection where isHeldBack: ("the maps are set offline", "Set them online, then try again.")
        case .connection:
            ("there is no network, or its server does not answer", "Check the network and the address, then try again.")
        case .notFound:
            ("its server does not have it", "Check the address: it is that of the folder with catalog.json.")
        case .notAllowed:
            (
                "its server refuses it",
                "Check the token of the catalog (packhorse: PACKHORSE_CATALOG_TOKEN) and the address, or ask its publisher."
            )
        case .limitExceeded: ("its server refuses it", "Check the address, or ask its publisher.")
        case .serverError: ("its server failed repeatedly", "Try again later.")
        case .badSignature:
            ("its signature is missing or not of this key", "Check the key: the publisher's file that ends with .pub.")
        case .olderCatalog: ("it is older than the last one that was read", "Ask its publisher.")
        case .badCatalog: ("its server has no valid catalog there", "Check the address, or ask its publisher.")
        case .storage: ("the disk failed", diskAdvice)
        default: (cause.words, "Ask its publisher.")
        }
    }
}
