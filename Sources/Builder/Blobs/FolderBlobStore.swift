public import Digests
public import Errors
public import Files
public import Foundation
internal import Synchronization

/// A blob store in a folder that coordinator and workers share: `ab/<hex>`, `tmp/` and `store-id`.
///
/// Any number of processes on any number of machines may use one folder. Files are complete, flushed and immutable
/// from the moment they have their final name.
public struct FolderBlobStore: Sendable {
    /// The folder.
    public let folder: URL
    /// The text of `store-id`: 32 hexadecimal digits.
    public let id: String
    /// ``temporaryURL()`` fails with `disk-full` if fewer bytes are free.
    public let reserve: UInt64
    private let root: String
    private let temporaries = Temporaries()

    /// Opens the store in a folder.
    ///
    /// - Parameters:
    ///   - folder: The store's folder.
    ///   - create: Whether to make the store when there is none. Only the coordinator does; a worker that made its own
    ///     store would commit blobs that no other process can see.
    ///   - reserve: Required free bytes, default 1 MiB.
    /// - Throws: `store-missing` without a store and without `create`; `disk-full`, `io`.
    public init(_ folder: URL, create: Bool, reserve: UInt64 = 1 << 20) throws(StorageError) {
        self.folder = folder
        root = folder.path
        self.reserve = reserve
        let file = folder.appendingPathComponent("store-id")
        if create { try Self.make(folder, file) }
        guard access(file.path, F_OK) == 0 else {
            throw StorageError(
                .storeMissing,
                "There is no blob store in '\(folder.path)' ('store-id' is missing). Mount the coordinator's blobs folder "
                    + "there, or correct --blobs.")
        }
        let descriptor = try FileDescriptor(reading: file)
        let bytes = try descriptor.read(at: 0, count: Int(min(descriptor.size, 64)))
        let id = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard id.utf8.count == 32, id.allSatisfy(\.isHexDigit) else {
            throw StorageError(
                .storeMissing, "'\(file.path)' is not the id of a blob store: 32 hexadecimal digits expected.")
        }
        self.id = id
    }

    /// A fresh name in `tmp/`.
    ///
    /// A file left under it is removed when the last copy of this value goes away.
    public func temporaryURL() throws(StorageError) -> URL {
        let parent = folder.appendingPathComponent("tmp")
        let free = try Durable.freeBytes(parent)
        guard free >= reserve else {
            throw StorageError(
                .diskFull,
                "Only \(free) bytes are free for blobs in '\(folder.path)', \(reserve) are needed as a reserve. Free some space there."
            )
        }
        let url = parent.appendingPathComponent(TemporaryName.random())
        temporaries.add(url.path)
        return url
    }

    /// Flushes the file and renames it to its digest, as ``BlobStore/put(_:digest:)``; blocks.
    ///
    /// An existing file is accepted only after its bytes were checked: the new file may replace a damaged shard with
    /// the same digest.
    /// - Throws: `disk-full` or `io`; the temporary file is kept for another attempt.
    public func putBlocking(_ temporary: URL, digest: Digest) throws(StorageError) {
        let target = place(of: digest)
        let file = try FileDescriptor(reading: temporary)
        if try length(of: digest) == file.size, try Digest.ofFile(target).digest == digest {
            try Durable.remove(temporary)
            temporaries.forget(temporary.path)
            return
        }
        try file.sync()
        // Never creates the store's own folder: it may be a mount that is temporarily absent, and a new folder would
        // block its return.
        try Durable.makeFolder(target.deletingLastPathComponent(), isAlone: true)
        try Durable.rename(temporary, to: target)
        temporaries.forget(temporary.path)
    }

    /// The blob's file, or `nil` if it does not exist; blocks.
    public func url(of digest: Digest) throws(StorageError) -> URL? {
        let url = place(of: digest)
        if access(url.path, F_OK) == 0 { return url }
        guard errno == ENOENT else { throw StorageError.system(errno, action: "look for", path: url.path) }
        return nil
    }

    /// Length of the blob's file, or `nil` if it does not exist; blocks.
    public func length(of digest: Digest) throws(StorageError) -> UInt64? {
        let path = path(of: digest)
        var status = stat()
        if stat(path, &status) == 0 { return UInt64(max(0, status.st_size)) }
        guard errno == ENOENT else { throw StorageError.system(errno, action: "look for", path: path) }
        return nil
    }

    /// Removes a blob; a missing blob is not an error; blocks.
    public func discard(_ digest: Digest) throws(StorageError) { try Durable.remove(place(of: digest)) }

    /// Removes what crashed processes left in `tmp/`: files without a recent write.
    ///
    /// - Parameter age: Seconds since the last write; at least a lease, default one day.
    /// - Returns: How many files were removed.
    func discardStaleTemporaries(olderThan age: TimeInterval) throws -> Int {
        let parent = folder.appendingPathComponent("tmp")
        let limit = Date().addingTimeInterval(-age)
        var removed = 0
        for url in try FileManager.default.contentsOfDirectory(
            at: parent, includingPropertiesForKeys: [.contentModificationDateKey])
        {
            guard let date = try url.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate,
                date < limit
            else { continue }
            try Durable.remove(url)
            removed += 1
        }
        return removed
    }

    private func place(of digest: Digest) -> URL { URL(filePath: path(of: digest)) }

    private func path(of digest: Digest) -> String {
        let name = digest.hex
        return "\(root)/\(name.prefix(2))/\(name)"
    }

    /// Makes what is missing.
    ///
    /// If two processes do this at the same time, one wins, and both then read the same id.
    /// Removes what a new store has, of a folder without any blob; the folder stays.
    package static func removeUnused(_ folder: URL) {
        // A folder that cannot be listed is left alone.
        guard let content = try? FileManager.default.contentsOfDirectory(atPath: folder.path),
            Set(content).isSubset(of: ["store-id", "tmp"]),
            rmdir(folder.appendingPathComponent("tmp").path) == 0 || errno == ENOENT
        else { return }
        unlink(folder.appendingPathComponent("store-id").path)
    }

    private static func make(_ folder: URL, _ file: URL) throws(StorageError) {
        try Durable.makeFolder(folder)
        try Durable.makeFolder(folder.appendingPathComponent("tmp"))
        guard access(file.path, F_OK) != 0 else { return }
        let draft = folder.appendingPathComponent("tmp").appendingPathComponent(TemporaryName.random())
        try Durable.write(Array((TemporaryName.random() + "\n").utf8), to: draft)
        let linked = link(draft.path, file.path)
        let number = errno
        try Durable.remove(draft)
        guard linked == 0 || number == EEXIST else {
            throw StorageError.system(number, action: "create", path: file.path)
        }
        try Durable.sync(folder: folder)
    }
}

/// The temporary names that a store has issued and that are still in use.
private final class Temporaries: Sendable {
    private let paths = Mutex<Set<String>>([])

    func add(_ path: String) { paths.withLock { _ = $0.insert(path) } }
    func forget(_ path: String) { paths.withLock { _ = $0.remove(path) } }

    deinit { for path in paths.withLock({ $0 }) { unlink(path) } }
}
