internal import Errors
internal import TextFormats

extension ArchiveError {
    /// The error for a caller, with the file's name.
    func error(_ path: String) -> StoreError {
        StoreError(
            .damaged, "The installed file '\(path)' cannot be read: \(Sentence.inner(message))",
            advice: "Remove the map and download it again.", cause: self)
    }
}
