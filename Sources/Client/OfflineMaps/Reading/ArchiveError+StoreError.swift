internal import Errors
internal import TextFormats

extension ArchiveError {
    /// The error for a caller, with the file's name.
    func error(_ path: String) -> StoreError {
        StoreError(
            .damaged, "The installed file '\(path)' cannot be read: \(Sentence.inner(message))",
            advice: "Install it again, or repair the store.", cause: self)
    }
}
