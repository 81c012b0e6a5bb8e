public import Digests
public import Errors
public import Files
public import Foundation

/// Blobs of a folder store that arrive in pieces: `tmp/<hex>.part` until they are whole.
///
/// A part survives the process that wrote it, so that the upload can be resumed. Its bytes are not used before the
/// whole file has the expected digest. All calls block.
public struct PartialBlobs: Sendable {
    /// What is there of a blob.
    public enum Found: Hashable, Sendable {
        /// All of it, under its digest.
        case stored
        /// The first so many bytes.
        case part(UInt64)
    }

    /// Parts kept at most; the oldest go first.
    static let maxParts = 4_096

    private let store: FolderBlobStore
    private let reserve: UInt64

    /// Stores parts next to the blobs of `store`.
    ///
    /// - Parameter reserve: Free bytes that no upload may take, default 64 MiB: the coordinator's state may lie on the same disk.
    public init(_ store: FolderBlobStore, reserve: UInt64 = 64 << 20) {
        self.store = store
        self.reserve = reserve
    }

    /// How many bytes of a blob of `size` bytes have arrived; a part that is too long is removed.
    ///
    /// - Throws: `disk-full` when the rest would not fit, `io`.
    public func findPart(of digest: Digest, size: UInt64) throws(StorageError) -> Found {
        if try store.length(of: digest) == size { return .stored }
        let part = url(of: digest)
        var status = stat()
        var length: UInt64 = 0
        if stat(part.path, &status) == 0 {
            length = UInt64(max(0, status.st_size))
        } else if errno != ENOENT {
            throw StorageError.system(errno, action: "look for", path: part.path)
        }
        if length > size {
            try Durable.remove(part)
            length = 0
        }
        let free = try Durable.freeBytes(part.deletingLastPathComponent())
        guard free >= reserve, free - reserve >= size - length else {
            throw StorageError(
                .diskFull,
                "\(free) bytes are free for blobs in '\(store.folder.path)'; \(size - length) are still to come and \(reserve) are needed as a reserve. Free some space there."
            )
        }
        return .part(length)
    }

    /// Writes the next bytes of a blob.
    ///
    /// - Throws: `disk-full` or `io`.
    public func write(_ pieces: [Data], of digest: Digest, at offset: UInt64) throws(StorageError) {
        try FilePiece.write(pieces, to: url(of: digest), at: offset)
    }

    /// Makes the part a blob, durably, when it is whole.
    ///
    /// Reads it once completely.
    /// - Throws: `digest-mismatch` (the part is removed), `disk-full`, `io`.
    public func seal(_ digest: Digest, size: UInt64) throws(StorageError) {
        let part = url(of: digest)
        let (found, length) = try Digest.ofFile(part)
        guard found == digest, length == size else {
            try Durable.remove(part)
            throw StorageError(
                .digestMismatch, "\(length) bytes with the digest \(found) arrived for \(digest) of \(size) bytes.")
        }
        try store.putBlocking(part, digest: digest)
    }

    /// Removes parts without a write for `age` seconds, and the oldest if there are too many.
    ///
    /// - Returns: How many were removed.
    @discardableResult
    public func expire(olderThan age: TimeInterval) throws -> Int {
        let folder = store.folder.appendingPathComponent("tmp")
        let limit = Date().addingTimeInterval(-age)
        var parts: [(url: URL, date: Date)] = []
        for url in try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: [.contentModificationDateKey]) where url.pathExtension == "part"
        {
            let date = try url.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
            parts.append((url, date ?? .distantPast))
        }
        parts.sort { $0.date > $1.date }
        let old = parts.enumerated().filter { $0.offset >= Self.maxParts || $0.element.date < limit }
        for part in old { try Durable.remove(part.element.url) }
        return old.count
    }

    private func url(of digest: Digest) -> URL {
        store.folder.appendingPathComponent("tmp").appendingPathComponent("\(digest.hex).part")
    }
}
