public import Digests
public import Errors
public import Files
public import Foundation

/// A store of finished shards and packages, each under the SHA-256 of its bytes: in a shared folder, behind the
/// coordinator's blob endpoint, or in an S3 bucket.
///
/// A caller writes and reads local files; the store transfers them. Do not call it while holding a lock: a store can be
/// as slow as a network.
public protocol BlobStore: Sendable {
    /// A random text made when the store was made.
    ///
    /// A worker and its coordinator compare it to be sure that they use the same store.
    var id: String { get }
    /// A name for a new local file from which ``put(_:digest:)`` is cheap.
    ///
    /// No file is made; the store forgets the name at `put`.
    ///
    /// - Throws: `disk-full` when there is hardly any space left, before work is wasted on it.
    func temporaryURL() throws(StorageError) -> URL
    /// Makes a finished temporary file the blob with that digest, durable and visible to all processes.
    ///
    /// The temporary name is gone afterwards.
    ///
    /// Idempotent: a blob that is there stays. The caller guarantees the digest; a remote store checks it again. Waits
    /// while the network is down; cancel the task to stop.
    /// - Throws: `StorageError` or `CancellationError`; the temporary file is kept for another attempt.
    func put(_ temporary: URL, digest: Digest) async throws
    /// The blob as a local file, or `nil` when the store does not hold it.
    ///
    /// A remote store downloads it first and compares its digest; concurrent callers share one download. Downloads fill
    /// a bounded cache: the file stays for as long as the returned value lives, and perhaps longer.
    /// - Throws: `StorageError` or `CancellationError`.
    func local(_ digest: Digest) async throws -> LocalBlob?
    /// Length of the blob, or `nil` when the store does not hold it.
    ///
    /// Asks the store itself, never a cache.
    /// - Throws: `StorageError` or `CancellationError`.
    func size(of digest: Digest) async throws -> UInt64?
}

/// A store with a folder of this process's own, for the files that are being made and copies of blobs.
public protocol CachingBlobStore: BlobStore {
    /// Bytes of all files in that folder now; lists the folder.
    func localBytes() -> UInt64
}

/// The store of a coordinator, which is the only process that removes blobs.
public protocol ManagedBlobStore: BlobStore {
    /// Removes a blob; a missing blob is not an error.
    func remove(_ digest: Digest) async throws
    /// Removes every blob that was written more than `age` seconds ago and for which `isNamed` is false.
    ///
    /// - Returns: How many were removed.
    func sweep(olderThan age: TimeInterval, unless isNamed: @escaping @Sendable (Digest) -> Bool) async throws -> Int
    /// Removes what crashed processes left unfinished: files or uploads without a write for `age` seconds.
    ///
    /// - Returns: How many were removed.
    @discardableResult
    func removeStaleTemporaries(olderThan age: TimeInterval) async throws -> Int
}

/// A blob as a readable local file.
///
/// Keep the value for as long as the file is opened by name: a cache may remove the file when the last copy is gone.
public final class LocalBlob: Sendable {
    /// The file; never written to again.
    public let url: URL
    private let release: @Sendable () -> Void

    /// Creates a reference to a file; `release` runs once, when the last copy is gone.
    public init(_ url: URL, release: @escaping @Sendable () -> Void = {}) {
        self.url = url
        self.release = release
    }

    deinit { release() }
}
