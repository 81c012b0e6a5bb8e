internal import Files

/// Identifies the data of a local archive: the file, and its write-ahead log, which may have the newest rows of SQLite.
public struct ArchiveStamp: Hashable, Sendable {
    private let file: FileStamp
    private let log: FileStamp?

    /// `nil` if the file does not exist.
    init?(path: String) {
        guard let file = FileStamp(path: path) else { return nil }
        self.file = file
        log = FileStamp(path: path + "-wal")
    }
}
