internal import Errors
internal import Files
internal import Foundation
internal import Synchronization

/// The right to do the work of a store: an advisory lock that one process holds.
///
/// The system releases it when the process ends, however it ends.
final class StoreLock: Sendable {
    private let handle: Mutex<Int32>

    private init(_ handle: Int32) { self.handle = Mutex(handle) }

    deinit { release() }

    /// Takes the lock.
    ///
    /// - Returns: `nil` while another process, or another lock of this process, holds it.
    /// - Throws: `folder` when the file cannot be opened.
    static func acquire(_ file: URL) throws(StoreError) -> StoreLock? {
        let handle = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard handle >= 0 else {
            throw unusable(StorageError.system(errno, action: "open", path: file.path))
        }
        while flock(handle, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            let number = errno
            close(handle)
            guard number == EWOULDBLOCK else {
                throw unusable(StorageError.system(number, action: "lock", path: file.path))
            }
            return nil
        }
        return StoreLock(handle)
    }

    private static func unusable(_ error: StorageError) -> StoreError {
        StoreError.storage(error, "The folder of the store cannot be used.", folder: true)
    }

    /// Gives the lock back; a second call does nothing.
    func release() {
        let old = handle.withLock { handle in
            defer { handle = -1 }
            return handle
        }
        if old >= 0 { close(old) }
    }
}

/// The 1 MiB that is released when the disk is full, so that the reason can still be written.
enum StoreReserve {
    /// Makes the file, when it is not there whole; on a full disk it stays away until the next call.
    ///
    /// - Returns: Whether it is there.
    @discardableResult static func make(_ folder: StoreFolder) -> Bool {
        // A reserve that cannot be read is made again.
        if let size = try? FileDescriptor(reading: folder.reserve).size, size >= StoreFolder.reserveBytes {
            return true
        }
        // Bytes that a file system cannot leave out as zeros.
        let bytes = [UInt8](repeating: 0xA5, count: StoreFolder.reserveBytes)
        return (try? Durable.write(bytes, to: folder.reserve)) != nil
    }

    /// Frees its space.
    static func release(_ folder: StoreFolder) throws(StoreError) {
        do throws(StorageError) { try Durable.remove(folder.reserve) } catch {
            throw StoreError.storage(error, "The reserve of the store cannot be released.")
        }
    }
}
