internal import Foundation

/// Identifies a file and its last change: another file with the same name, or other bytes in it, gives another stamp.
///
/// Uses the time of the last inode change (ctime), which copies cannot preserve (`cp -p` preserves only the time of
/// writing). Two changes within one clock tick of the file system leave the same stamp.
public struct FileStamp: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let written: Time
    private let changedTime: Time

    private struct Time: Hashable, Sendable {
        let seconds: Int
        let nanoseconds: Int

        init(_ time: timespec) { (seconds, nanoseconds) = (time.tv_sec, time.tv_nsec) }
    }

    /// When the file or its name was last changed (ctime), in seconds since 1970; programs cannot set this time.
    public var changed: Double { Double(changedTime.seconds) + Double(changedTime.nanoseconds) / 1e9 }

    /// - Returns: `nil` when nothing is at the path, or it cannot be inspected.
    public init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        #if canImport(Darwin)
            (written, changedTime) = (Time(status.st_mtimespec), Time(status.st_ctimespec))
        #else
            (written, changedTime) = (Time(status.st_mtim), Time(status.st_ctim))
        #endif
    }
}
