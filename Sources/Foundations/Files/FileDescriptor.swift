internal import CFile
internal import Errors
package import Foundation

extension URL {
    /// Bytes of the file now.
    ///
    /// Foundation's resource values take 30 times as many instructions; workers ask for each shard.
    /// - Throws: `io`.
    package func fileSize() throws(StorageError) -> UInt64 {
        var status = stat()
        guard stat(path, &status) == 0 else { throw StorageError.system(errno, action: "inspect", path: path) }
        return UInt64(max(0, status.st_size))
    }
}

/// One open file, closed with the object.
///
/// Every failure names the path, and a full disk has its own error code.
///
/// Used by one thread at a time.
package final class FileDescriptor {
    package let path: String
    /// Bytes in the file when it was opened, or written so far.
    package private(set) var size: UInt64 = 0
    private var handle: Int32
    /// The offset up to which the kernel was asked to write to the medium; `nil` for a file that need not be durable.
    private var started: UInt64? = 0
    /// After how many appended bytes the kernel is asked to write them to the medium, so that the flush at the end is
    /// short.
    private static let writeback: UInt64 = 8 << 20

    /// Opens an existing file for reading.
    package init(reading url: URL) throws(StorageError) {
        path = url.path
        handle = open(path, O_RDONLY | O_CLOEXEC)
        guard handle >= 0 else { throw StorageError.system(errno, action: "open", path: path) }
        var status = stat()
        guard fstat(handle, &status) == 0 else { throw StorageError.system(errno, action: "inspect", path: path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StorageError(.io, "Cannot read '\(path)': it is not a regular file.")
        }
        size = UInt64(max(0, status.st_size))
    }

    /// Creates a new file for writing; it must not exist.
    package init(creating url: URL) throws(StorageError) {
        path = url.path
        handle = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard handle >= 0 else { throw StorageError.system(errno, action: "create", path: path) }
    }

    /// Creates a file for writing and reading that has no name: it is removed with this object or at the end of the
    /// process.
    ///
    /// - Parameter url: A path on the wanted file system, used only for a moment.
    package init(scratch url: URL) throws(StorageError) {
        path = url.path
        handle = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard handle >= 0 else { throw StorageError.system(errno, action: "create", path: path) }
        started = nil
        unlink(path)
    }

    /// Opens an existing file for reading and changing bytes in it.
    package init(changing url: URL) throws(StorageError) {
        path = url.path
        handle = open(path, O_RDWR | O_CLOEXEC)
        guard handle >= 0 else { throw StorageError.system(errno, action: "open", path: path) }
        var status = stat()
        guard fstat(handle, &status) == 0 else { throw StorageError.system(errno, action: "inspect", path: path) }
        size = UInt64(max(0, status.st_size))
    }

    deinit { if handle >= 0 { Foundation.close(handle) } }

    /// Reads exactly `count` bytes, which must lie inside the file.
    package func read(at offset: UInt64, count: Int) throws(StorageError) -> [UInt8] {
        guard count >= 0, offset <= size, UInt64(count) <= size - offset else {
            throw StorageError(.corrupt, "'\(path)' ends before byte \(offset) + \(count); it has \(size) bytes.")
        }
        var failure: StorageError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                guard let base = buffer.baseAddress else { break }
                let got = pread(handle, base + filled, count - filled, off_t(offset) + off_t(filled))
                if got < 0 && errno == EINTR { continue }
                if got < 0 { failure = StorageError.system(errno, action: "read", path: path) }
                if got == 0 { failure = StorageError(.corrupt, "'\(path)' became shorter while it was read.") }
                guard got > 0 else { break }
                filled += got
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Appends all bytes.
    package func write(_ bytes: [UInt8]) throws(StorageError) {
        try write(bytes, at: size)
        size += UInt64(bytes.count)
        if let started, size >= started + Self.writeback {
            // Only a hint: only sync() guarantees that the bytes are on the medium.
            _ = ph_start_writeback(handle, Int64(started), Int64(size - started))
            self.started = size
        }
    }

    /// Writes all bytes over those from `offset` on, which must lie inside the file or follow it.
    package func write(_ bytes: [UInt8], at offset: UInt64) throws(StorageError) {
        var done = 0
        while done < bytes.count {
            let put = bytes.withUnsafeBytes { raw in
                raw.baseAddress.map { pwrite(handle, $0 + done, raw.count - done, off_t(offset) + off_t(done)) } ?? 0
            }
            if put < 0 && errno == EINTR { continue }
            guard put > 0 else { throw StorageError.system(errno, action: "write", path: path) }
            done += put
        }
    }

    /// Cuts the file to its first `count` bytes.
    package func truncate(to count: UInt64) throws(StorageError) {
        while ftruncate(handle, off_t(count)) != 0 {
            guard errno == EINTR else { throw StorageError.system(errno, action: "shorten", path: path) }
        }
        size = count
    }

    /// Returns when the bytes are on the medium.
    package func sync() throws(StorageError) {
        while ph_flush(handle) != 0 {
            guard errno == EINTR else { throw StorageError.system(errno, action: "flush", path: path) }
        }
    }

    /// Closes the file and reports errors that a network file system may report only now.
    package func close() throws(StorageError) {
        guard handle >= 0 else { return }
        let closing = handle
        handle = -1
        guard Foundation.close(closing) == 0 || errno == EINTR else {
            throw StorageError.system(errno, action: "close", path: path)
        }
    }
}
