import Errors
import Files
import Foundation

/// An open file that is being given away: an update that removes its name takes nothing from it.
final class SharedHandle: Sendable {
    /// Bytes of the file.
    let size: UInt64
    private let handle: Int32
    private let path: String

    /// - Throws: ``StorageError`` for a file that is not there.
    init(_ place: URL) throws(StorageError) {
        path = place.path
        handle = open(path, O_RDONLY | O_CLOEXEC)
        guard handle >= 0 else { throw StorageError.system(errno, action: "open", path: path) }
        var status = stat()
        guard fstat(handle, &status) == 0 else {
            let number = errno
            close(handle)
            throw StorageError.system(number, action: "inspect", path: path)
        }
        size = UInt64(max(0, status.st_size))
    }

    deinit { close(handle) }

    /// Reads exactly so many bytes; it blocks.
    func read(at offset: UInt64, count: Int) throws(StorageError) -> [UInt8] {
        var failure: StorageError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count, let base = buffer.baseAddress {
                let got = pread(handle, base + filled, count - filled, off_t(offset) + off_t(filled))
                if got < 0, errno == EINTR { continue }
                if got < 0 { failure = StorageError.system(errno, action: "read", path: path) }
                if got == 0 { failure = StorageError(.corrupt, "'\(path)' became shorter while it was read.") }
                guard got > 0 else { break }
                filled += got
            }
        }
        if let failure { throw failure }
        return bytes
    }
}
