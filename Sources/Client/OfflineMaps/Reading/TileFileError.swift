/// Why a tile file cannot be read.
struct TileFileError: Error {
    /// What is wrong, to follow the name of the file.
    var text: String
    /// Whether the file is not there.
    var isMissing = false

    /// The error for a caller, with the file's name.
    func error(_ path: String) -> StoreError {
        StoreError(
            .damaged, "The installed file '\(path)' cannot be read: \(text).",
            advice: "Install it again, or repair the store.", cause: self)
    }
}
