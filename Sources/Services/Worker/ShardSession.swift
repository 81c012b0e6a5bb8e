internal import Blobs
internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import Origins
internal import Shards
internal import TileBodies
internal import Tiles
internal import Wire

/// Writes the shard of one batch and counts the results of its tiles. Runs on a separate queue, because disks block.
actor ShardSession {
    /// Number of failed tiles named in a commit; `failed` is exact.
    ///
    /// 500 of at most 290 bytes fit a frame.
    private static let namedFailures = 500

    private let executor: QueueExecutor
    private let temporary: URL
    private let header: ShardHeader
    private let writer: ShardWriter
    private let layers: LayerCache
    private var base: BaseTiles
    /// Whether new data was written: then the shard differs from every earlier one.
    private var isNew = false
    /// The shard of a previous build with the same content.
    private var identicalShard: (digest: Digest, reader: ShardReader)?
    private var failed: UInt64 = 0
    private var reused: UInt64 = 0
    private var notModified: UInt64 = 0
    private var received: UInt64 = 0
    private var receivedAgain: UInt64 = 0
    private var notSent: UInt64 = 0
    private var failures: [(tile: TileID, cause: CauseCode, detail: String)] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameter layers: Gets the layers of the tiles that an origin sends, if the origin found them.
    init(_ temporary: URL, header: ShardHeader, layers: LayerCache) throws {
        self.layers = layers
        executor = QueueExecutor("packhorse.shard")
        self.temporary = temporary
        self.header = header
        base = BaseTiles(header)
        writer = try ShardWriter(temporary: temporary, header: header)
    }

    /// Adds completed tiles.
    ///
    /// Tiles that are unchanged since the previous build are only recorded.
    func add(_ tiles: [FetchedTile]) throws {
        for fetched in tiles {
            received &+= UInt64(clamping: fetched.received)
            switch fetched.outcome {
            case .stored(let body, let etag, let lastModified):
                if base.length(of: fetched.tile) == body.count {
                    let digest = Digest(of: body)
                    if base.isSame(fetched.tile, digest) { receivedAgain &+= UInt64(clamping: fetched.received) }
                    if base.confirm(fetched.tile, digest: digest, etag: etag, lastModified: lastModified, proof: .sent)
                    {
                        remember(fetched, digest)
                        continue
                    }
                }
                remember(fetched, try write(fetched.tile, body, etag: etag, lastModified: lastModified))
            case .empty:
                if base.confirm(fetched.tile, digest: nil, etag: nil, lastModified: nil, proof: .sent) { continue }
                try write(fetched.tile, nil, etag: nil, lastModified: nil)
            case .unchanged:
                if base.confirm(fetched.tile) {
                    notSent &+= UInt64(clamping: fetched.notSent ?? base.length(of: fetched.tile) ?? 0)
                    continue
                }
                fail(
                    fetched.tile, cause: CauseCode(status: 304),
                    detail: "the server answered 304 for a tile that is not available")
            case .failed(let cause, let detail): fail(fetched.tile, cause: cause, detail: detail)
            }
        }
    }

    private func remember(_ fetched: FetchedTile, _ digest: Digest?) {
        guard let traits = fetched.layers, let digest else { return }
        layers.remember(LayerCache.Key(digest.prefix128), traits)
    }

    private func fail(_ tile: TileID, cause: CauseCode, detail: String) {
        failed += 1
        if failures.count < Self.namedFailures { failures.append((tile, cause, detail)) }
    }

    /// Adds a tile of another shard.
    ///
    /// Its body is read only if the previous build does not have the same one.
    func add(_ entry: ShardEntry, from reader: ShardReader) throws(SourceDamage) {
        if base.confirm(
            entry.tile, digest: entry.body?.digest, etag: entry.etag, lastModified: entry.lastModified, proof: .shared)
        {
            return
        }
        let body: [UInt8]?
        do throws(StorageError) { body = try reader.body(entry) } catch { throw .source(error) }
        do throws(StorageError) {
            try write(entry.tile, body, etag: entry.etag, lastModified: entry.lastModified)
        } catch { throw .own(error) }
        reused += 1
    }

    /// - Returns: The body's digest.
    @discardableResult
    private func write(
        _ tile: TileID, _ body: [UInt8]?, etag: String?, lastModified: String?
    ) throws(StorageError) -> Digest? {
        isNew = true
        if let body { return try writer.add(tile, body: body, etag: etag, lastModified: lastModified) }
        try writer.addEmpty(tile)
        return nil
    }

    // MARK: - The previous build

    /// Adds a shard of a previous build.
    ///
    /// Returns what is wrong with it, and whether further shards may be useful.
    func open(base digest: Digest, _ blob: LocalBlob, wanted: Set<TileID>) -> (damage: StorageError?, needsMore: Bool) {
        let damage = base.open(digest, blob, wanted: wanted)
        return (damage, !base.covers(wanted.count))
    }

    /// Takes tiles of a previous build that the origin is not asked about; returns those that it has.
    func keep(_ tiles: Set<TileID>) -> Set<TileID> {
        let kept = base.keep(tiles)
        for tile in kept { notSent &+= UInt64(clamping: base.length(of: tile) ?? 0) }
        return kept
    }

    /// The validators for conditional requests about these tiles.
    func validators(of tiles: Set<TileID>) -> [TileID: TileValidators] { base.validators(of: tiles) }

    /// Writes the unchanged tiles: reuses the old shard if this one contains nothing else, otherwise copies the bodies.
    ///
    /// - Returns: The tiles whose bodies cannot be read any more and must be fetched unconditionally, and what is
    ///   wrong.
    /// - Throws: `StorageError` about the shard that is being written.
    func writeUnchangedTiles(expecting tiles: UInt64) throws -> (lost: [TileID], damage: StorageError?) {
        defer { base = BaseTiles(header) }
        if !isNew, failed == 0, let same = base.unchangedShard(of: tiles) {
            identicalShard = same
            notModified = base.count(.confirmed)
            reused = base.count(.shared) + base.count(.unasked)
            return ([], nil)
        }
        var lost: [TileID] = []
        var damage: StorageError?
        for (entry, proof, reader) in base.inFileOrder() {
            let body: [UInt8]?
            do throws(StorageError) {
                body = try reader.body(entry)
            } catch {
                lost.append(entry.tile)
                damage = error
                continue
            }
            try write(entry.tile, body, etag: entry.etag, lastModified: entry.lastModified)
            switch proof {
            case .confirmed: notModified += 1
            case .shared, .unasked: reused += 1
            case .sent: break
            }
        }
        return (lost.sorted(), damage)
    }

    /// Finishes the file and makes it a durable blob.
    ///
    /// After an error no file is left.
    func finish(_ store: any BlobStore, expecting tiles: UInt64) async throws -> PBFetchResult {
        let made = try await shard(store, expecting: tiles)
        return .make {
            $0.shard = Data(made.digest.bytes)
            $0.shardBytes = made.bytes
            $0.shardFooter = Data(made.footer.bytes)
            $0.stored = UInt64(made.stored)
            $0.empty = UInt64(made.empty)
            $0.failed = failed
            $0.reused = reused
            $0.notModified = notModified
            $0.received = received
            $0.receivedAgain = min(receivedAgain, received)
            $0.notSent = notSent
            $0.distinct = UInt64(made.distinct)
            $0.bodyBytes = made.bodyBytes
            $0.failures = failures.sorted { $0.tile < $1.tile }.map { failure in
                .make {
                    $0.tile = PBTile(failure.tile)
                    $0.cause = "\(failure.cause)"
                    $0.detail = String(failure.detail.prefix(200))
                    while $0.detail.utf8.count > 200 { $0.detail.removeLast() }
                }
            }
        }
    }

    private func shard(_ store: any BlobStore, expecting tiles: UInt64) async throws -> Made {
        if let identicalShard { return Made(identicalShard.digest, identicalShard.reader) }
        do {
            let summary = try writer.finish()
            let settled = UInt64(summary.stored) + UInt64(summary.empty) + failed
            guard settled == tiles else {
                throw WorkFailure(
                    cause: .incomplete, detail: "The origin completed \(settled) of \(tiles) tiles.", retriable: true)
            }
            try await store.put(temporary, digest: summary.digest)
            return Made(summary)
        } catch {
            unlink(temporary.path)
            throw error
        }
    }
}

/// Which of two shards is damaged when one is copied into the other.
enum SourceDamage: Error {
    case source(StorageError)
    case own(StorageError)
}

/// A shard in the blob store, with its counts.
private struct Made {
    let digest: Digest
    let footer: Digest
    let bytes: UInt64
    let stored: Int
    let empty: Int
    let distinct: Int
    let bodyBytes: UInt64

    init(_ summary: ShardSummary) {
        digest = summary.digest
        footer = summary.footerDigest
        bytes = summary.bytes
        stored = summary.stored
        empty = summary.empty
        distinct = summary.distinct
        bodyBytes = summary.bodyBytes
    }

    init(_ digest: Digest, _ reader: ShardReader) {
        self.digest = digest
        footer = reader.footerDigest
        bytes = reader.size
        stored = reader.entries.count { $0.body != nil }
        empty = reader.entries.count - stored
        distinct = reader.bodies.count
        bodyBytes = reader.bodies.reduce(0) { $0 + UInt64($1.length) }
    }
}
