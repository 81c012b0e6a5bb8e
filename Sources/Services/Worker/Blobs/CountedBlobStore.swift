internal import Blobs
internal import Digests
internal import Files
internal import Foundation

/// A blob store whose uploads are counted.
struct CountedBlobStore: BlobStore {
    private let store: any BlobStore
    private let metrics: WorkerMetrics

    init(_ store: any BlobStore, _ metrics: WorkerMetrics) {
        self.store = store
        self.metrics = metrics
    }

    var id: String { store.id }

    func temporaryURL() throws(StorageError) -> URL { try store.temporaryURL() }

    func put(_ temporary: URL, digest: Digest) async throws {
        // Nothing else reads the file, so its size does not change. A file that is missing is the store's error.
        let size = (try? temporary.fileSize()) ?? 0
        try await store.put(temporary, digest: digest)
        metrics.addUpload(bytes: size)
    }

    func local(_ digest: Digest) async throws -> LocalBlob? { try await store.local(digest) }

    func size(of digest: Digest) async throws -> UInt64? { try await store.size(of: digest) }
}
