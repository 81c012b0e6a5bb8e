internal import Foundation
internal import Origins
internal import Shards
internal import Tiles
internal import Wire

/// Writes the shard of one batch and counts what became of its tiles; on a queue of its own, because disks block.
actor ShardSession {
    /// Failed tiles named in a commit; `failed` is exact.
    ///
    /// 500 of at most 290 bytes fit a frame well.
    private static let namedFailures = 500

    private let executor: QueueExecutor
    private let temporary: URL
    private let writer: ShardWriter
    private var failed: UInt64 = 0
    private var reused: UInt64 = 0
    private var failures: [(tile: TileID, cause: String, detail: String)] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ temporary: URL, _ header: ShardHeader) throws {
        executor = QueueExecutor("packhorse.shard")
        self.temporary = temporary
        writer = try ShardWriter(temporary: temporary, header: header)
    }

    /// Adds settled tiles.
    func add(_ tiles: [FetchedTile]) throws {
        for fetched in tiles {
            switch fetched.outcome {
            case .stored(let body, let etag, let lastModified):
                try writer.add(fetched.tile, body: body, etag: etag, lastModified: lastModified)
            case .empty: try writer.addEmpty(fetched.tile)
            case .failed(let cause, let detail):
                failed += 1
                if failures.count < Self.namedFailures { failures.append((fetched.tile, cause, detail)) }
            }
        }
    }

    /// Adds a tile that another shard holds.
    func add(_ entry: ShardEntry, _ body: [UInt8]?) throws {
        if let body {
            try writer.add(entry.tile, body: body, etag: entry.etag, lastModified: entry.lastModified)
        } else {
            try writer.addEmpty(entry.tile)
        }
        reused += 1
    }

    /// Finishes the file and makes it a durable blob.
    ///
    /// When anything fails no file is left.
    func finish(_ store: any BlobStore, expecting tiles: UInt64) async throws -> PBFetchResult {
        let summary: ShardSummary
        do {
            summary = try writer.finish()
            let settled = UInt64(summary.stored) + UInt64(summary.empty) + failed
            guard settled == tiles else {
                throw WorkFailure(
                    cause: "incomplete", detail: "The origin settled \(settled) of \(tiles) tiles.", retriable: true)
            }
            try await store.put(temporary, digest: summary.digest)
        } catch {
            unlink(temporary.path)
            throw error
        }
        return .make {
            $0.shard = Data(summary.digest.bytes)
            $0.shardBytes = summary.bytes
            $0.stored = UInt64(summary.stored)
            $0.empty = UInt64(summary.empty)
            $0.failed = failed
            $0.reused = reused
            $0.distinct = UInt64(summary.distinct)
            $0.bodyBytes = summary.bodyBytes
            $0.failures = failures.sorted { $0.tile < $1.tile }.map { failure in
                .make {
                    $0.tile = PBTile(failure.tile)
                    $0.cause = String(failure.cause.prefix(60))
                    $0.detail = String(failure.detail.prefix(200))
                    while $0.detail.utf8.count > 200 { $0.detail.removeLast() }
                }
            }
        }
    }
}
