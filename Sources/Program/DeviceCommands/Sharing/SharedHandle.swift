import Errors
import Files
import Foundation
import Synchronization

/// An open file that is sent to a client, also after an update has removed its name.
final class SharedHandle: Sendable {
    /// Bytes of the file.
    let size: UInt64
    private let file: Mutex<FileDescriptor>

    /// - Throws: ``StorageError`` for a file that is not there.
    init(_ place: URL) throws(StorageError) {
        let opened = try FileDescriptor(reading: place)
        size = opened.size
        file = Mutex(opened)
    }

    /// Reads exactly so many bytes; it blocks.
    ///
    /// - Throws: ``StorageError``, also for a file that became shorter.
    func read(at offset: UInt64, count: Int) throws(StorageError) -> [UInt8] {
        try file.withLock { opened throws(StorageError) in try opened.read(at: offset, count: count) }
    }
}
