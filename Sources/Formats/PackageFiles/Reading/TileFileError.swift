/// Why a tile file cannot be read.
package struct TileFileError: Error {
    /// What is wrong, to follow the name of the file.
    package var text: String
    /// Whether the file is not there.
    package var isMissing: Bool

    package init(text: String, isMissing: Bool = false) {
        self.text = text
        self.isMissing = isMissing
    }
}
