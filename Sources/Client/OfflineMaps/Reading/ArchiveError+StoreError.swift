internal import Errors

extension ArchiveError {
    /// The error for a caller, with the file's name.
    func error(_ path: String) -> StoreError {
        StoreError(
            .damaged, "The installed file '\(path)' cannot be read: \(message)",
            advice: "Install it again, or repair the store.", cause: self)
    }
}
