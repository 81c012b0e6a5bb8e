internal import CFile
internal import Foundation

/// Bytes of files that the system has in memory.
package enum CachedBytes {
    /// The most bytes that an event loop reads at once: more would take the time of its other connections.
    package static let most = 128 << 10

    /// Reads as many bytes as the buffer has, and never waits for a medium or a network.
    ///
    /// Linux only; the file system must support it, as ext4, XFS and Btrfs do.
    /// - Returns: Whether all of them were read. `false` = read them in a way that may wait, which also names errors.
    package static func read(_ file: Int32, at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        guard let base = buffer.baseAddress, let start = Int64(exactly: offset) else { return buffer.isEmpty }
        return ph_read_cached(file, base, buffer.count, start) == buffer.count
    }
}
