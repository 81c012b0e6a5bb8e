internal import Foundation

/// Identifies a file and its last change: another file with the same name, or other bytes in it, gives another stamp.
///
/// Uses the time of the last inode change (ctime), which copies cannot preserve (`cp -p` preserves only the time of
/// writing). The newest rows of a SQLite file may be in its write-ahead log next to it.
public struct FileStamp: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let times: [Int]
    /// Size and time of the write-ahead log; empty without one.
    private let log: [Int]

    /// `nil` if the file does not exist.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        times = [
            status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ]
        var logStatus = stat()
        log =
            stat(path + "-wal", &logStatus) == 0
            ? [Int(logStatus.st_size), logStatus.st_mtim.tv_sec, logStatus.st_mtim.tv_nsec] : []
    }
}
