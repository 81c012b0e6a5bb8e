import Foundation

/// The total and free space of a file system.
struct DiskSpace: Sendable {
    /// Free bytes for an ordinary user.
    var free: UInt64
    /// Bytes of the file system.
    var total: UInt64

    /// The file system of a folder; `nil` when it cannot be asked.
    static func of(_ folder: URL) -> DiskSpace? {
        var status = statvfs()
        guard statvfs(folder.path, &status) == 0 else { return nil }
        let block = UInt64(status.f_frsize)
        func bytes(_ blocks: UInt64) -> UInt64 { blocks.multipliedReportingOverflow(by: block).partialValue }
        return DiskSpace(free: bytes(UInt64(status.f_bavail)), total: bytes(UInt64(status.f_blocks)))
    }

    /// Whether cached data should be removed: less than 1 GB is free, or less than 1/20 of a small disk.
    var isShort: Bool { free < min(1_000_000_000, total / 20) }
}
