internal import Errors
internal import Files

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Where the bytes of a PMTiles file are.
enum PMTilesStorage: Sendable {
    /// An open file.
    case file(Int32)
    /// All of them, in memory.
    case memory([UInt8])

    /// Some of the bytes.
    ///
    /// - Parameter path: Names the file in errors.
    /// - Throws: ``ArchiveError`` for bytes outside of the file, and for a file that cannot be read.
    func bytes(at offset: UInt64, _ length: UInt64, _ path: String) throws(ArchiveError) -> [UInt8] {
        guard let start = Int(exactly: offset), let count = Int(exactly: length) else {
            throw ArchiveError(.badArchive, "PMTiles file '\(path)' refers to bytes outside the file.")
        }
        switch self {
        case .file(let file): return try Self.read(file, at: start, count: count, path: path)
        case .memory(let bytes):
            guard start <= bytes.count, count <= bytes.count - start else {
                throw ArchiveError(
                    .badArchive, "PMTiles file '\(path)' cannot be read at byte \(bytes.count): the file ends early.")
            }
            return Array(bytes[start..<start + count])
        }
    }

    /// Some of the bytes, when nothing must be waited for; `nil` = ask ``bytes(at:_:_:)``.
    func bytesAtOnce(_ place: Range<UInt64>) -> [UInt8]? {
        guard case .file(let file) = self, let count = Int(exactly: place.upperBound - place.lowerBound) else {
            return nil
        }
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let part = UnsafeMutableRawBufferPointer(buffer)
            if CachedBytes.read(file, at: place.lowerBound, into: part) { filled = count }
        }
        return bytes.count == count ? bytes : nil
    }

    /// Closes the file.
    func close() {
        switch self {
        case .file(let file): closeFile(file)
        case .memory: break
        }
    }

    private static func read(_ file: Int32, at start: Int, count: Int, path: String) throws(ArchiveError) -> [UInt8] {
        var done = 0
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while done < count {
                let got = pread(file, buffer.baseAddress.map { $0 + done }, count - done, off_t(start + done))
                if got < 0, errno == EINTR { continue }
                if got <= 0 {
                    failure = got < 0 ? errno : 0
                    break
                }
                done += got
            }
            filled = done
        }
        guard done == count else {
            let reason = failure == 0 ? "the file ends early" : String(cString: strerror(failure))
            throw ArchiveError(
                failure == 0 ? .badArchive : .unreadable,
                "PMTiles file '\(path)' cannot be read at byte \(start + done): \(reason).")
        }
        return bytes
    }
}

private func closeFile(_ file: Int32) { _ = close(file) }
