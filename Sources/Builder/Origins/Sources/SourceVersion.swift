internal import Digests
internal import Errors
internal import Files
import Foundation

/// The version of an archive's data in a file: a text that is equal on every machine for the same file, and for copies
/// that preserve the modification time.
///
/// It is made of the file's size, the time of its last write, and a digest of its first and last 16 KiB, where SQLite
/// keeps its change counter and PMTiles its header and root directory; of a SQLite write-ahead log next to it likewise.
/// Inode and device are left out, because they differ between machines. Reading a whole planet archive would take
/// minutes.
enum SourceVersion {
    private static let edge = 16 << 10
    /// Linux stamps all writes within one tick of its clock, at most 10 ms, with the same time; so a file that was
    /// written this recently is examined again.
    private static let youth = 0.02

    /// The version of the file at a path now.
    ///
    /// Blocks; costs two reads of 16 KiB, and 20 ms when the file was written just now.
    ///
    /// The file is opened, network file systems then ask the server for its current size and time.
    ///
    /// - Parameter hasLog: Whether a SQLite log next to it belongs to it.
    /// - Throws: ``OriginsError`` `.unreadable`.
    static func of(path: String, hasLog: Bool) throws(OriginsError) -> String {
        guard let file = try facts(path) else {
            throw OriginsError(.unreadable, "The archive '\(path)' does not exist; check the path.")
        }
        // For SQLite, an empty log and a missing log are the same.
        guard hasLog, let log = try facts(path + "-wal"), !log.hasPrefix("0 bytes") else { return file }
        return "\(file), with a log of \(log)"
    }

    /// `nil` when there is no such file.
    private static func facts(_ path: String) throws(OriginsError) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure(path)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw OriginsError(.unreadable, "The archive '\(path)' is not a regular file; check the path.")
        }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let age = Double(now.tv_sec - status.st_mtim.tv_sec) + Double(now.tv_nsec - status.st_mtim.tv_nsec) / 1e9
        if (0..<youth).contains(age) {
            usleep(UInt32(youth * 1e6))
            guard fstat(descriptor, &status) == 0 else { throw failure(path) }
        }
        let size = Int(status.st_size)
        var hash = DigestHasher()
        hash.update(try bytes(of: descriptor, at: 0, min(size, edge), path))
        if size > edge {
            let start = max(size - edge, edge)
            hash.update(try bytes(of: descriptor, at: start, size - start, path))
        }
        let digest = hash.finish().hex.prefix(16)
        let nanoseconds = String(status.st_mtim.tv_nsec)
        let fraction = String(repeating: "0", count: max(0, 9 - nanoseconds.count)) + nanoseconds
        return "\(size) bytes of \(date(status.st_mtim.tv_sec)).\(fraction)Z (\(digest))"
    }

    private static func date(_ seconds: Int) -> String {
        var (time, parts) = (time_t(seconds), tm())
        guard gmtime_r(&time, &parts) != nil else { return "\(seconds)" }
        func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
        let day = "\(Int(parts.tm_year) + 1_900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        return "\(day)T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    }

    /// Up to `count` bytes; fewer if the file became shorter; its size then shows that.
    private static func bytes(
        of descriptor: Int32, at offset: Int, _ count: Int, _ path: String
    ) throws(OriginsError) -> [UInt8] {
        var done = 0
        var error: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while done < count {
                let got = pread(descriptor, buffer.baseAddress.map { $0 + done }, count - done, offset + done)
                if got < 0, errno == EINTR { continue }
                if got < 0 { error = errno }
                if got <= 0 { break }
                done += got
            }
            filled = done
        }
        guard error == 0 else { throw failure(path, error) }
        return bytes
    }

    private static func failure(_ path: String, _ number: Int32 = errno) -> OriginsError {
        OriginsError(
            .unreadable,
            "The archive '\(path)' cannot be read: \(String(cString: strerror(number))). Check its permissions and the disk."
        )
    }
}
