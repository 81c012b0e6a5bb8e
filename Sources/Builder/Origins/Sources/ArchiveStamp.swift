internal import Files
internal import Foundation

/// Identifies the data of a local archive: the file, and its write-ahead log, which may have the newest rows of SQLite.
public struct ArchiveStamp: Hashable, Sendable {
    private let file: FileStamp
    /// Size and time of writing of the log; empty without one.
    ///
    /// Not its other times: each reader that opens the log sets its owner (SQLite's `robustFchown`), and nothing else.
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
