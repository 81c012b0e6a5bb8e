public import Foundation

/// Where finished shards and packages live, each under the SHA-256 of its bytes.
public protocol BlobStore: Sendable {
    /// A random text made when the store was made.
    ///
    /// A worker and its coordinator compare it to be sure that they look at the same store.
    var id: String { get }
    /// A name for a new file on the store's own file system.
    ///
    /// No file is made; the store forgets the name at `put`.
    ///
    /// - Throws: `disk-full` when there is hardly any space left, before work is wasted on it.
    func temporaryURL() throws(ShardsError) -> URL
    /// Makes a finished temporary file the blob of that digest, durably.
    ///
    /// The temporary name is gone afterwards.
    ///
    /// Idempotent: a blob that is there stays. The caller vouches for the digest.
    /// - Throws: `disk-full` or `io`; the temporary file stays for another try.
    func put(_ temporary: URL, digest: Digest) throws(ShardsError)
    /// The blob's file, or `nil` when the store does not hold it.
    func url(of digest: Digest) throws(ShardsError) -> URL?
    /// Removes a blob; one that is not there is fine.
    func remove(_ digest: Digest) throws(ShardsError)
}
