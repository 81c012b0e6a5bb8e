import Foundation
import Scheduling
import Shards

/// Removes blobs that no job names: what commits left that came too late.
///
/// Only blobs nobody wrote for an hour go, because a new one may be about to be named.
struct BlobSweep: Sendable {
    /// Seconds since a blob was written.
    static let age: TimeInterval = 3_600

    let blobs: FolderBlobStore
    let named: Set<ContentDigest>

    /// Looks at every blob; returns how many were removed.
    func run(now: Date = Date()) throws -> Int {
        var removed = 0
        let keys: [URLResourceKey] = [.contentModificationDateKey, .isRegularFileKey]
        let folders = try FileManager.default.contentsOfDirectory(at: blobs.folder, includingPropertiesForKeys: nil)
        for folder in folders where folder.lastPathComponent.utf8.count == 2 {
            for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: keys) {
                let values = try file.resourceValues(forKeys: Set(keys))
                guard values.isRegularFile == true, let written = values.contentModificationDate,
                    now.timeIntervalSince(written) > Self.age, let digest = Digest(hex: file.lastPathComponent),
                    let content = ContentDigest(digest.bytes), !named.contains(content)
                else { continue }
                try blobs.remove(digest)
                removed += 1
            }
        }
        return removed
    }
}
