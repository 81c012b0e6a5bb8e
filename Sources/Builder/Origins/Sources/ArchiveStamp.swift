internal import Files
internal import Foundation

/// Identifies the data of a local archive: the file, and its write-ahead log, which may have the newest rows of SQLite.
public struct ArchiveStamp: Hashable, Sendable {
    private let file: FileStamp
    /// Size and time of writing of the log; empty without one.
    ///
    /// Without its ctime: SQLite sets the owner of the log when a reader opens it, which changes the ctime alone.
    private let log: [Int]

    /// `nil` if the file does not exist.
    init?(path: String) {
        guard let file = FileStamp(path: path) else { return nil }
        self.file = file
        var status = stat()
        log =
            stat(path + "-wal", &status) == 0
            ? [Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec] : []
    }
}
