public import Digests
internal import Files
public import Foundation

/// The calls of the protocols: the folder's own, off the cooperative pool, because a network folder may be slow.
extension FolderBlobStore: ManagedBlobStore {
    /// Flushes the file and renames it to its digest.
    public func put(_ temporary: URL, digest: Digest) async throws {
        try await FileWork.run { try putBlocking(temporary, digest: digest) }
    }

    /// The blob's file, in place.
    public func local(_ digest: Digest) async throws -> LocalBlob? {
        try await FileWork.run { try url(of: digest).map { LocalBlob($0) } }
    }

    /// Length of the blob's file.
    public func size(of digest: Digest) async throws -> UInt64? {
        try await FileWork.run { try length(of: digest) }
    }

    /// Removes a blob; a missing blob is not an error.
    public func remove(_ digest: Digest) async throws {
        try await FileWork.run { try discard(digest) }
    }

    /// Examines every blob and removes old ones that are not referenced.
    public func sweep(
        olderThan age: TimeInterval, unless isNamed: @escaping @Sendable (Digest) -> Bool
    ) async throws -> Int {
        try await FileWork.run { try discardOld(before: Date().addingTimeInterval(-age), unless: isNamed) }
    }

    /// Removes what crashed processes left in `tmp/`: files without a write for `age` seconds.
    @discardableResult
    public func removeStaleTemporaries(olderThan age: TimeInterval) async throws -> Int {
        try await FileWork.run { try discardStaleTemporaries(olderThan: age) }
    }

    /// The number and the bytes of all blobs; looks at each file.
    public func usage() async throws -> (blobs: Int, bytes: UInt64) {
        try await FileWork.run { try countAll() }
    }

    private func countAll() throws -> (blobs: Int, bytes: UInt64) {
        var (count, bytes) = (0, 0 as UInt64)
        let keys: [URLResourceKey] = [.fileSizeKey, .isRegularFileKey]
        let folders = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        for folder in folders where folder.lastPathComponent.utf8.count == 2 {
            for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: keys) {
                // A blob may be removed while it is looked at.
                guard let values = try? file.resourceValues(forKeys: Set(keys)), values.isRegularFile == true else {
                    continue
                }
                count += 1
                bytes += UInt64(values.fileSize ?? 0)
            }
        }
        return (count, bytes)
    }

    private func discardOld(before limit: Date, unless isNamed: (Digest) -> Bool) throws -> Int {
        var count = 0
        let keys: [URLResourceKey] = [.contentModificationDateKey, .isRegularFileKey]
        let folders = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        for folder in folders where folder.lastPathComponent.utf8.count == 2 {
            for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: keys) {
                let values = try file.resourceValues(forKeys: Set(keys))
                guard values.isRegularFile == true, let written = values.contentModificationDate, written < limit,
                    let digest = Digest(hex: file.lastPathComponent), !isNamed(digest)
                else { continue }
                try discard(digest)
                count += 1
            }
        }
        return count
    }
}
