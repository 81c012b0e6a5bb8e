import Glibc

/// The file that one attempt reads or writes.
///
/// It is closed when the object is released.
///
/// Owned by the transfer thread.
final class TransferFile {
    private let handle: Int32
    /// Bytes in the file when it was opened.
    let size: UInt64
    /// The position of the next byte that is read or written.
    private(set) var position: UInt64
    /// The first error.
    private(set) var failure: TransferError?

    /// Opens a file to send from.
    init(reading path: String, from offset: UInt64) throws(TransferError) {
        handle = open(path, O_RDONLY | O_CLOEXEC)
        guard handle >= 0 else { throw Self.error(errno, action: "open", path: path) }
        size = Self.size(handle)
        position = offset
    }

    /// Opens or creates a file to append to.
    init(appending path: String) throws(TransferError) {
        handle = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard handle >= 0 else { throw Self.error(errno, action: "open", path: path) }
        size = Self.size(handle)
        position = size
    }

    deinit { close(handle) }

    /// Removes the content of the file.
    func startOver() -> Bool {
        guard ftruncate(handle, 0) == 0 else { return failed(errno, "shorten") }
        position = 0
        return true
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var done = 0
        while done < bytes.count {
            let put = pwrite(
                handle, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(position) + off_t(done))
            if put < 0 && errno == EINTR { continue }
            guard put > 0 else { return failed(errno, "write") }
            done += put
        }
        position += UInt64(bytes.count)
        return true
    }

    /// Reads into `buffer`.
    ///
    /// Returns 0 at the end, `nil` when the file cannot be read.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        while true {
            let got = pread(handle, buffer.baseAddress, buffer.count, off_t(position))
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else {
                _ = failed(errno, "read")
                return nil
            }
            position += UInt64(got)
            return got
        }
    }

    /// Moves the position of the next read.
    func seek(by target: UInt64, from sent: UInt64) { position = position &- sent &+ target }

    private func failed(_ number: Int32, _ action: String) -> Bool {
        failure = Self.error(number, action: action, path: "")
        return false
    }

    private static func size(_ handle: Int32) -> UInt64 {
        var status = stat()
        return fstat(handle, &status) == 0 ? UInt64(max(0, status.st_size)) : 0
    }

    private static func error(_ number: Int32, action: String, path: String) -> TransferError {
        let isFull = number == ENOSPC || number == EDQUOT
        let place = path.isEmpty ? "the local file" : "'\(path)'"
        return TransferError(
            isFull ? .diskFull : .fileFailed, "cannot \(action) \(place): \(String(cString: strerror(number)))")
    }
}
