internal import Errors
internal import TextFormats

extension ArchiveError {
    /// The error for a caller, with the file's name.
    func error(_ path: String) -> StoreError {
        StoreError(
            .damaged, "The installed file '\(path)' cannot be read: \(Sentence.inner(message))",
            advice: StoreError.adviceForDamage, cause: self)
    }
}

extension StoreError {
    /// What to do about a map that is damaged.
    static let adviceForDamage =
        "Download the map again, or repair the store; until then the map stays, and its other tiles can be read."
}
