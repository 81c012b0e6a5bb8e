internal import Errors
internal import Files
internal import Foundation
internal import NIOCore
internal import Synchronization

/// The folder of a catalog, in which files are opened without following links.
final class CatalogFolder: Sendable {
    /// A file that stays open between requests.
    private struct Kept {
        let file: OpenFile
        var isUsed = true
    }

    /// The most files that stay open.
    private static let mostKept = 64

    let path: String
    private let handle: Int32
    private let kept = Mutex<[String: Kept]>([:])

    /// Opens the folder; its own path may have links.
    ///
    /// - Throws: ``GatewayError`` `catalog-missing`.
    init(_ url: URL) throws(GatewayError) {
        path = url.path
        handle = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard handle >= 0 else {
            throw GatewayError(
                .catalogMissing, "Cannot open the catalog's folder '\(path)': \(String(cString: strerror(errno))).")
        }
    }

    deinit { close(handle) }

    /// Opens a file below the folder.
    ///
    /// - Parameter inside: A path that a list of the catalog names: relative, without dot segments.
    /// - Throws: ``GatewayError`` `catalog-missing` when it is not there; `unreadable`, also for a link and for anything
    ///   that is no regular file.
    func file(_ inside: String) throws(GatewayError) -> OpenFile {
        var parts = inside.split(separator: "/").map(String.init)
        guard let name = parts.popLast() else { throw failure(inside, ENOENT) }
        var folder = handle
        defer { if folder != handle { close(folder) } }
        for part in parts {
            let next = openat(folder, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            let number = errno
            if folder != handle { close(folder) }
            folder = handle
            guard next >= 0 else { throw failure(inside, number) }
            folder = next
        }
        // A pipe would block without O_NONBLOCK.
        let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw failure(inside, errno) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw GatewayError(.unreadable, "'\(inside)' of the catalog is not a regular file.")
        }
        return OpenFile(file, status, name: inside)
    }

    /// A file that has been open since an earlier request, when the path still leads to it; `nil` = ask ``file(_:)``.
    ///
    /// It asks the system once, and reads nothing of the file.
    func openFile(_ inside: String) -> OpenFile? {
        let known = kept.withLock { kept in
            kept[inside]?.isUsed = true
            return kept[inside]?.file
        }
        guard let known else { return nil }
        var status = stat()
        // A link on the way to the same file changes nothing.
        if fstatat(handle, inside, &status, AT_SYMLINK_NOFOLLOW) == 0, DocumentStamp(status) == known.stamp {
            return known
        }
        kept.withLock { $0[inside] = nil }
        return nil
    }

    /// Keeps a file open for ``openFile(_:)`` until ``closeUnused()`` finds it unused.
    func keep(_ file: OpenFile) {
        kept.withLock { kept in
            if kept.count >= Self.mostKept { kept = [:] }
            kept[file.name] = Kept(file: file)
        }
    }

    /// Closes the files that no request used since the last call, so that a removed file frees its space.
    func closeUnused() {
        kept.withLock { kept in
            kept = kept.filter { $0.value.isUsed }
            for name in kept.keys { kept[name]?.isUsed = false }
        }
    }

    private func failure(_ inside: String, _ number: Int32) -> GatewayError {
        GatewayError(
            number == ENOENT ? .catalogMissing : .unreadable,
            "Cannot open '\(inside)' of the catalog '\(path)': \(String(cString: strerror(number))).")
    }
}

/// An open file of the catalog, read by any number of threads and closed with the object.
final class OpenFile: Sendable {
    /// The path below the catalog.
    let name: String
    /// Bytes.
    let size: UInt64
    /// Seconds since 1970.
    let modified: Int64
    /// What changes when another file gets the name.
    let stamp: DocumentStamp
    private let handle: Int32

    fileprivate init(_ handle: Int32, _ status: stat, name: String) {
        self.handle = handle
        self.name = name
        size = UInt64(max(0, status.st_size))
        modified = Int64(status.st_mtim.tv_sec)
        stamp = DocumentStamp(status)
    }

    deinit { close(handle) }

    /// Reads exactly `count` bytes; blocks.
    ///
    /// - Throws: ``GatewayError`` `unreadable`, also when the file ends early.
    func read(at offset: UInt64, count: Int) throws(GatewayError) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: count)
        var failure: Int32?
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { raw in
            var done = 0
            while done < count, let base = raw.baseAddress {
                let got = pread(handle, base + done, count - done, off_t(offset) + off_t(done))
                if got < 0, errno == EINTR { continue }
                if got <= 0 {
                    failure = got < 0 ? errno : 0
                    break
                }
                done += got
            }
            return done
        }
        if let failure {
            let why = failure == 0 ? "it became shorter" : String(cString: strerror(failure))
            throw GatewayError(.unreadable, "Cannot read '\(name)' of the catalog: \(why).")
        }
        return buffer
    }

    /// Reads exactly `count` bytes when the system has them in memory; `nil` = ask ``read(at:count:)``.
    func readAtOnce(at offset: UInt64, count: Int) -> ByteBuffer? {
        var buffer = ByteBufferAllocator().buffer(capacity: count)
        let got = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { raw in
            let part = UnsafeMutableRawBufferPointer(rebasing: raw.prefix(count))
            return CachedBytes.read(handle, at: offset, into: part) ? count : 0
        }
        return got == count ? buffer : nil
    }

    /// All bytes of a small file.
    func contents(upTo limit: Int) throws(GatewayError) -> [UInt8] {
        guard size <= UInt64(limit) else {
            throw GatewayError(.catalogDamaged, "'\(name)' of the catalog has \(size) bytes; the limit is \(limit).")
        }
        return Array(buffer: try read(at: 0, count: Int(size)))
    }
}

/// Device, inode, size and time of a file.
struct DocumentStamp: Sendable, Hashable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    fileprivate init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }

    /// The stamp of a path, following links; `nil` when there is nothing.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}
