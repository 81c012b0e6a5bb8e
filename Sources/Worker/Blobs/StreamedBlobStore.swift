internal import Errors
internal import Foundation
internal import Logging
internal import Shards
internal import ZeroMQ

/// The coordinator's blobs for a worker that shares no folder with it: sent and fetched over ZeroMQ.
///
/// A put or fetch goes on after cuts and restarts of the coordinator, where it was, until it is done or cancelled.
struct StreamedBlobStore: BlobStore {
    /// What a worker says in place of a store's id; the coordinator has only one.
    let id = ""
    let client: BlobClient
    private let cache: BlobCache

    /// - Parameters:
    ///   - scratch: Where shards and packages are made and fetched ones kept; shared by any number of workers of a machine.
    ///   - limit: Bytes of blobs kept that no work needs now.
    init(scratch: URL, limit: UInt64, client: BlobClient) throws {
        cache = try BlobCache(scratch, limit: limit)
        self.client = client
    }

    func temporaryURL() throws(ShardsError) -> URL { try cache.temporaryURL() }

    func put(_ temporary: URL, digest: Digest) async throws {
        let size = try temporary.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        let meter = WorkMeter.current
        switch await client.put(temporary, digest, size: UInt64(size), onMove: { meter?.step() }) {
        case .stored: try await FileWork.run { [cache] in try cache.adopt(temporary, digest: digest) }
        case let outcome: throw Self.error(outcome, digest)
        }
    }

    func local(_ digest: Digest) async throws -> LocalBlob? {
        let meter = WorkMeter.current
        return try await cache.blob(digest) { [client] file in
            switch await client.get(digest, into: file, onMove: { meter?.step() }) {
            case .fetched: true
            case .absent: false
            case let outcome: throw Self.error(outcome, digest)
            }
        }
    }

    func size(of digest: Digest) async throws -> UInt64? {
        switch await client.ask(digest) {
        case .size(let size): size
        case .absent: nil
        case let outcome: throw Self.error(outcome, digest)
        }
    }

    private static func error(_ outcome: BlobOutcome, _ digest: Digest) -> any Error {
        switch outcome {
        case .failed("disk-full", let text):
            ShardsError(.diskFull, "The blob \(digest) cannot be kept: \(text)")
        case .failed("missing-blob", let text): ShardsError(.missing, "The blob \(digest) is gone: \(text)")
        case .failed(let code, let text):
            ShardsError(.io, "The blob \(digest) cannot be streamed (\(code)): \(text)")
        default: CancellationError()
        }
    }
}
