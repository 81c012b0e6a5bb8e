public import Errors
public import Foundation

/// Reading and writing parts of files by offset, for bytes that are transferred in pieces.
///
/// Each call opens and closes the file, so that nothing has to be kept open between two pieces that may be minutes apart. Blocks.
public enum FilePiece {
    /// Reads exactly `count` bytes at `offset`.
    ///
    /// - Throws: `corrupt-shard` when the file ends before, `io`.
    public static func read(_ file: URL, at offset: UInt64, count: Int) throws(StorageError) -> Data {
        let handle = open(file.path, O_RDONLY | O_CLOEXEC)
        guard handle >= 0 else { throw StorageError.system(errno, action: "open", path: file.path) }
        defer { close(handle) }
        guard let start = off_t(exactly: offset) else {
            throw StorageError(.corrupt, "'\(file.path)' has no byte \(offset).")
        }
        var bytes = Data(count: count)
        var failure: StorageError?
        bytes.withUnsafeMutableBytes { raw in
            var done = 0
            while done < raw.count, let base = raw.baseAddress {
                let got = pread(handle, base + done, raw.count - done, start + off_t(done))
                if got < 0, errno == EINTR { continue }
                if got < 0 { failure = StorageError.system(errno, action: "read", path: file.path) }
                if got == 0 { failure = StorageError(.corrupt, "'\(file.path)' ends before \(offset) + \(count).") }
                guard got > 0 else { return }
                done += got
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Writes pieces behind each other from `offset` on; makes the file if it does not exist.
    ///
    /// - Throws: `disk-full` or `io`; a part may be written.
    public static func write(_ pieces: [Data], to file: URL, at offset: UInt64) throws(StorageError) {
        let handle = open(file.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard handle >= 0 else { throw StorageError.system(errno, action: "open", path: file.path) }
        defer { close(handle) }
        guard var at = off_t(exactly: offset) else {
            throw StorageError(.limitExceeded, "'\(file.path)' cannot have a byte \(offset).")
        }
        for piece in pieces {
            var failure: StorageError?
            piece.withUnsafeBytes { raw in
                var done = 0
                while done < raw.count, let base = raw.baseAddress {
                    let put = pwrite(handle, base + done, raw.count - done, at + off_t(done))
                    if put < 0, errno == EINTR { continue }
                    guard put > 0 else {
                        failure = StorageError.system(errno, action: "write", path: file.path)
                        return
                    }
                    done += put
                }
            }
            if let failure { throw failure }
            at += off_t(piece.count)
        }
    }
}
