internal import Errors
package import Files
package import Foundation

/// A file that is being made: on the disk, or in memory up to a size, so that a small one is written with one call.
///
/// Used by one thread at a time.
package final class NewFile: SealableFile {
    package let url: URL
    private let limit: Int
    private var memory: [UInt8] = []
    /// `nil` while all is in memory.
    private var file: FileDescriptor?

    /// Begins a file that must not exist.
    ///
    /// - Parameter limit: Bytes that are kept in memory; a longer file goes to the disk. With 0 it is made there at once.
    /// - Throws: `StorageError`.
    package init(creating url: URL, inMemory limit: Int = 0) throws(StorageError) {
        self.url = url
        self.limit = limit
        if limit == 0 { file = try FileDescriptor(creating: url) }
    }

    /// Opens a file on the disk for changes.
    package init(changing url: URL) throws(StorageError) {
        self.url = url
        limit = 0
        file = try FileDescriptor(changing: url)
    }

    /// Whether nothing of it is on the disk.
    package var isInMemory: Bool { file == nil }

    package var size: UInt64 { file?.size ?? UInt64(memory.count) }

    /// Appends all bytes.
    package func write(_ bytes: [UInt8]) throws(StorageError) {
        if let file { return try file.write(bytes) }
        guard bytes.count > limit - memory.count else {
            memory += bytes
            return
        }
        try moveToDisk().write(bytes)
    }

    /// Writes all bytes over those from `offset` on, which must lie inside of the file.
    package func write(_ bytes: [UInt8], at offset: UInt64) throws(StorageError) {
        if let file { return try file.write(bytes, at: offset) }
        let place = try range(at: offset, count: bytes.count)
        memory.replaceSubrange(place, with: bytes)
    }

    /// Reads exactly `count` bytes; of a file on the disk only when it was opened for changes.
    package func read(at offset: UInt64, count: Int) throws(StorageError) -> [UInt8] {
        if let file { return try file.read(at: offset, count: count) }
        return Array(memory[try range(at: offset, count: count)])
    }

    /// Cuts the file to its first `count` bytes.
    package func truncate(to count: UInt64) throws(StorageError) {
        if let file { return try file.truncate(to: count) }
        memory.removeLast(memory.count - (try range(at: 0, count: Int(clamping: count))).count)
    }

    /// Writes what is in memory, and closes the file; it is not flushed.
    package func close() throws(StorageError) { try moveToDisk().close() }

    private func moveToDisk() throws(StorageError) -> FileDescriptor {
        if let file { return file }
        let file = try FileDescriptor(creating: url)
        try file.write(memory)
        memory = []
        self.file = file
        return file
    }

    private func range(at offset: UInt64, count: Int) throws(StorageError) -> Range<Int> {
        guard count >= 0, count <= memory.count, offset <= UInt64(memory.count - count) else {
            throw StorageError(
                .corrupt, "'\(url.path)' ends before byte \(offset) + \(count); it has \(memory.count) bytes.")
        }
        return Int(offset)..<Int(offset) + count
    }
}

/// What the search for a seal and the hash of a file need of it.
package protocol SealableFile: AnyObject {
    /// Bytes in the file.
    var size: UInt64 { get }
    /// Reads exactly `count` bytes, which must lie inside of the file.
    func read(at offset: UInt64, count: Int) throws(StorageError) -> [UInt8]
}

extension FileDescriptor: SealableFile {}
