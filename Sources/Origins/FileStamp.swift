internal import Foundation

/// Which file a path led to, and when it was last written: another file of that name, or other bytes in it, has another stamp.
///
/// The time of the last change is one that copies which keep the time of writing (`cp -p`) cannot keep; a SQLite file's newest rows may lie
/// in its log beside it.
public struct FileStamp: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let times: [Int]
    /// Size and time of the write-ahead log; empty without one.
    private let log: [Int]

    /// `nil` when there is nothing to look at.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        times = [
            status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ]
        var beside = stat()
        log =
            stat(path + "-wal", &beside) == 0
            ? [Int(beside.st_size), beside.st_mtim.tv_sec, beside.st_mtim.tv_nsec] : []
    }
}
