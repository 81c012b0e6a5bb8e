package import Foundation

/// The total and free space of a file system.
package struct DiskSpace: Sendable {
    /// Free bytes for an ordinary user.
    package var free: UInt64
    /// Bytes of the file system.
    package var total: UInt64

    /// Both in bytes.
    package init(free: UInt64, total: UInt64) { (self.free, self.total) = (free, total) }

    /// The file system of a folder; `nil` when it cannot be asked.
    package static func of(_ folder: URL) -> DiskSpace? {
        var status = statvfs()
        guard statvfs(folder.path, &status) == 0 else { return nil }
        let block = UInt64(status.f_frsize)
        func bytes(_ blocks: UInt64) -> UInt64 { blocks.multipliedReportingOverflow(by: block).partialValue }
        return DiskSpace(free: bytes(UInt64(status.f_bavail)), total: bytes(UInt64(status.f_blocks)))
    }

    /// The same for a folder that may be made later: the space of its nearest parent.
    package static func ofFuture(_ folder: URL) -> DiskSpace? {
        var place = folder.standardizedFileURL
        while !FileManager.default.fileExists(atPath: place.path), place.path != "/" { place.deleteLastPathComponent() }
        return of(place)
    }

    /// Whether cached data should be removed: less than 1 GB is free, or less than 1/20 of a small disk.
    package var isShort: Bool { free < min(1_000_000_000, total / 20) }
}
