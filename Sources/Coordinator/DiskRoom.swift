import Foundation

/// How full a disk is.
struct DiskRoom: Sendable {
    /// Bytes that an ordinary user can still write.
    var free: UInt64
    /// Bytes of the file system.
    var total: UInt64

    /// The file system that a folder lies on; `nil` when it cannot be asked.
    static func of(_ folder: URL) -> DiskRoom? {
        var status = statvfs()
        guard statvfs(folder.path, &status) == 0 else { return nil }
        let block = UInt64(status.f_frsize)
        func bytes(_ blocks: UInt64) -> UInt64 { blocks.multipliedReportingOverflow(by: block).partialValue }
        return DiskRoom(free: bytes(UInt64(status.f_bavail)), total: bytes(UInt64(status.f_blocks)))
    }

    /// Whether what is kept for convenience should go: less than 1 GB is free, or less than a twentieth of a small disk.
    var isShort: Bool { free < min(1_000_000_000, total / 20) }
}
