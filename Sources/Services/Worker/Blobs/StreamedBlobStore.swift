internal import Blobs
internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import Logging
internal import ZeroMQ

/// The coordinator's blobs for a worker that shares no folder with it: sent and downloaded over ZeroMQ.
///
/// A transfer continues where it was after broken connections and restarts of the coordinator, until it is done or
/// cancelled.
struct StreamedBlobStore: CachingBlobStore {
    /// The value that a worker sends instead of a store's id.
    ///
    /// The coordinator has only one store.
    let id = ""
    let client: BlobClient
    private let cache: BlobCache

    /// - Parameters:
    ///   - scratch: Where shards and packages are made and downloaded blobs are kept. Any number of workers on a
    ///     machine may share it.
    ///   - limit: Bytes of unused blobs that are kept.
    init(scratch: URL, limit: UInt64, client: BlobClient) throws {
        cache = try BlobCache(scratch, limit: limit)
        self.client = client
    }

    func temporaryURL() throws(StorageError) -> URL { try cache.temporaryURL() }

    func localBytes() -> UInt64 { cache.bytesOnDisk() }

    func put(_ temporary: URL, digest: Digest) async throws {
        let size = try temporary.fileSize()
        let meter = WorkMeter.current
        switch await client.put(temporary, digest, size: size, onMove: { meter?.countStep() }) {
        case .stored: try await FileWork.run { [cache] in try cache.adopt(temporary, digest: digest) }
        case let outcome: throw Self.error(outcome, digest)
        }
    }

    func local(_ digest: Digest) async throws -> LocalBlob? {
        let meter = WorkMeter.current
        return try await cache.blob(digest) { [client] file in
            switch await client.get(digest, into: file, onMove: { meter?.countStep() }) {
            case .fetched: true
            case .absent: false
            case let outcome: throw Self.error(outcome, digest)
            }
        }
    }

    func size(of digest: Digest) async throws -> UInt64? {
        switch await client.requestSize(of: digest) {
        case .size(let size): size
        case .absent: nil
        case let outcome: throw Self.error(outcome, digest)
        }
    }

    private static func error(_ outcome: BlobOutcome, _ digest: Digest) -> any Error {
        switch outcome {
        case .failed("disk-full", let text):
            StorageError(.diskFull, "The blob \(digest) cannot be kept: \(text)")
        case .failed("missing-blob", let text): StorageError(.missing, "The blob \(digest) is missing: \(text)")
        case .failed(let code, let text):
            StorageError(.io, "The blob \(digest) cannot be streamed (\(code)): \(text)")
        // The other outcomes answer other questions.
        case .cancelled, .stored, .fetched, .size, .absent: CancellationError()
        }
    }
}
