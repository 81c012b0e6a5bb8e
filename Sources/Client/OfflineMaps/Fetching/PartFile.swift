internal import Foundation
internal import Synchronization

/// A part file of a download: it grows, and it survives a lost connection.
final class PartFile: Sendable {
    private struct State {
        var handle: Int32 = -1
        var size: UInt64 = 0
    }
    private let path: String
    private let state = Mutex(State())

    init(_ url: URL) { path = url.path }

    deinit {
        let handle = state.withLock { $0.handle }
        if handle >= 0 { close(handle) }
    }

    /// Opens the file, makes it where it is missing, and cuts it to its first bytes.
    func begin(at offset: UInt64) throws(FetchError) {
        let result = state.withLock { state -> Int32 in
            if state.handle < 0 { state.handle = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644) }
            guard state.handle >= 0 else { return errno }
            while ftruncate(state.handle, off_t(clamping: offset)) != 0 {
                guard errno == EINTR else { return errno }
            }
            state.size = offset
            return 0
        }
        if result != 0 { throw failure(result) }
    }

    /// Writes bytes at the end.
    func append(_ bytes: Data) throws(FetchError) {
        let result = state.withLock { state -> Int32 in
            bytes.withUnsafeBytes { raw in
                var done = 0
                while done < raw.count {
                    let start = raw.baseAddress.map { $0 + done }
                    let put = pwrite(state.handle, start, raw.count - done, off_t(state.size))
                    if put < 0, errno == EINTR { continue }
                    guard put > 0 else { return errno }
                    done += put
                    state.size += UInt64(put)
                }
                return 0
            }
        }
        if result != 0 { throw failure(result) }
    }

    /// Flushes the bytes to the medium and closes the file.
    func end() throws(FetchError) {
        let result = state.withLock { state -> Int32 in
            guard state.handle >= 0 else { return 0 }
            defer {
                close(state.handle)
                state.handle = -1
            }
            while fsync(state.handle) != 0 {
                guard errno == EINTR else { return errno }
            }
            return 0
        }
        if result != 0 { throw failure(result) }
    }

    private func failure(_ number: Int32) -> FetchError {
        var error = FetchError(
            .storage,
            "'\(path)' cannot be written: \(String(cString: strerror(number))). \(StoreError.diskAdvice)")
        error.isDiskFull = number == ENOSPC || number == EDQUOT
        return error
    }
}
