internal import Blobs
internal import Digests
internal import Errors
internal import Foundation
internal import Logging
internal import Origins
internal import Shards
internal import Telemetry
internal import TileBodies
internal import Tiles
internal import Tilesets
internal import Wire

/// Carries out a fetch lease: downloads tiles from the origin, writes a shard, and stores it in the blob store.
struct BatchFetcher: Sendable {
    let store: any BlobStore
    let origins: OriginCache
    /// Collects the layers of the fetched tiles.
    let layers: LayerCache
    let logger: Logger?
    let metrics: WorkerMetrics
    private let ranges: RangeLeases

    init(
        store: any BlobStore, origins: OriginCache, layers: LayerCache, logger: Logger?, metrics: WorkerMetrics
    ) {
        (self.store, self.origins, self.layers) = (store, origins, layers)
        (self.logger, self.metrics) = (logger, metrics)
        ranges = RangeLeases(store)
    }

    /// Takes the tiles of the batch that the offer's sources contain, and requests the others from the origin:
    /// conditionally where shards of previous builds have them, otherwise with their bodies.
    ///
    /// Tiles that cannot be fetched are named in the result.
    ///
    /// - Throws: ``WorkFailure``, `StorageError`, or `CancellationError`; no file is left then.
    func run(_ work: PBFetchWork, token: UInt64, _ meter: WorkMeter) async throws -> PBCommit {
        let mask: TileMask
        do {
            mask = try TileMask(decoding: work.mask)
        } catch {
            throw WorkFailure(cause: .badBatch, detail: "The offer's mask is damaged: \(error)", retriable: false)
        }
        guard let cell = work.cell.tileID, let zooms = ZoomRange(min: Int(work.zoomMin), max: Int(work.zoomMax)),
            zooms.max <= mask.maxZoom
        else { throw WorkFailure(cause: .badBatch, detail: "The offer's cell or zooms are invalid.", retriable: false) }
        if !work.hasPart { try Self.check(work, tiles: mask.tiles(in: zooms, under: cell), in: cell, zooms: zooms) }
        let tileset = Array(work.tileset)
        let known = work.hasPart ? try await ranges.stored(work) : nil
        var source = try await origins.open(
            tileset, budget: work.origin, version: work.sourceVersion, ranges: known)
        // An archive that is open since an earlier job may have been replaced.
        if !Self.fits(source.version, work), try await source.hasChanged() {
            source = try await origins.open(tileset, budget: work.origin, version: work.sourceVersion)
        }
        try await Self.check(source, of: work)
        if work.tilesFound { source.origin.trust() }
        var result: PBFetchResult
        do {
            if work.toPlan {
                result = try await ranges.plan(work, mask: mask, cell: cell, zooms: zooms, from: source, meter)
                if try await source.hasChanged() { throw WorkFailure.changing(source.tileset) }
            } else {
                let part =
                    work.hasPart
                    ? try await ranges.part(work, mask: mask, cell: cell, zooms: zooms, from: source, meter) : nil
                let batch = Batch(mask: mask, cell: cell, zooms: zooms, part: part)
                do {
                    result = try await fetch(work, batch, from: source, meter: meter)
                } catch let refuted as RefutedBlocks {
                    result = try await fetch(work, batch, from: source, meter: meter, isRepeated: true)
                    result.blockList = refuted.note
                }
            }
            if result.blockList.hasPrefix(BlockListNote.refusal) {
                logger?.warning(
                    "List of blocks not used; all tiles are requested",
                    metadata: [LogKey.tileset: "\(source.tileset.id)", LogKey.errorMessage: "\(result.blockList)"])
            }
        } catch let error as OriginsError where error.code == .refused || error.code == .allRefused {
            // Asking for the version would be refused too.
            if let gone = WorkFailure(removedFrom: source.tileset, error) { throw gone }
            throw error
        } catch  where !(error is CancellationError) {
            // Data that is read while the archive changes may look damaged.
            if try await source.hasChanged() {
                // The plan said which version it is; now the server does.
                if work.hasPart {
                    try await Self.check(
                        try await origins.open(tileset, budget: work.origin, version: work.sourceVersion), of: work)
                }
                throw WorkFailure.changing(source.tileset)
            }
            throw error
        }
        return .make {
            $0.token = token
            $0.fetch = result
        }
    }

    /// Refuses a batch that has other tiles here than at the coordinator.
    private static func check(
        _ work: PBFetchWork, tiles: any Sequence<TileID>, in cell: TileID, zooms: ZoomRange
    ) throws {
        let count = tiles.reduce(into: 0 as UInt64) { count, _ in count += 1 }
        guard count == work.tiles else {
            throw WorkFailure(
                cause: .badBatch,
                detail: "The batch \(cell) \(zooms) has \(count) tiles here and \(work.tiles) in the offer.",
                retriable: false)
        }
    }

    /// The tiles of a lease.
    private struct Batch: Sendable {
        let mask: TileMask
        let cell: TileID
        let zooms: ZoomRange
        /// The plan that it is a part of; `nil` = all tiles of the mask in the cell and zooms.
        let part: RangePart?

        var tiles: any Sequence<TileID> & Sendable { part?.tiles ?? mask.tiles(in: zooms, under: cell) }
    }

    private static func fits(_ version: String?, _ work: PBFetchWork) -> Bool {
        work.sourceVersion.isEmpty || version == nil || version == work.sourceVersion
    }

    /// Refuses to build a batch from another version of the source's data than its job.
    ///
    /// A server that names the job's version again was not given another file: its answers contradict each other.
    private static func check(_ source: OriginCache.Opened, of work: PBFetchWork) async throws {
        guard !fits(source.version, work), let version = source.version else { return }
        // A document of builds may name two of them in turns while it is replaced; the job can begin again.
        if source.tileset.build?.document == nil, let pinned = source.origin as? any PinnedOrigin,
            let more = try? await pinned.versions(ofAnswers: 4), more.contains(work.sourceVersion)
        {
            throw WorkFailure.contradicting([work.sourceVersion, version] + more)
        }
        throw WorkFailure.changed(to: version)
    }

    /// - Parameter isRepeated: Whether an attempt that ended has counted tiles as completed.
    private func fetch(
        _ work: PBFetchWork, _ batch: Batch, from source: OriginCache.Opened, meter: WorkMeter,
        isRepeated: Bool = false
    ) async throws -> PBFetchResult {
        let (tileset, origin) = (source.tileset, source.origin)
        let header = ShardHeader(tileset: tileset.id, cell: batch.cell, zooms: batch.zooms)
        let session = try ShardSession(try store.temporaryURL(), header: header, layers: layers)
        var wanted = SourceTiles(batch.tiles, tileset: tileset.id)
        for digest in work.base {
            guard try await open(digest, in: session, wanted) else { break }
        }
        var failedBefore = false
        let isOfVersion = work.sourcesVersion.isEmpty || work.sourcesVersion == source.version
        for (number, shard) in (isOfVersion ? work.sources : []).enumerated() where !wanted.rest.isEmpty {
            wanted = try await addTiles(wanted, from: shard, into: session, meter)
            // A source without tiles says nothing about single tiles.
            if number == 0 { failedBefore = work.partialFirst && wanted.taken > 0 }
        }
        try await keepUnchanged(of: &wanted, work, in: session, meter)
        if failedBefore, batch.part == nil, let control = batch.tiles.first(where: { !wanted.rest.contains($0) }) {
            // Tiles that failed before say nothing about the origin when they fail again. So a tile that succeeded
            // before is requested together with them. Otherwise an origin that once seemed down would never be
            // recognised as back when only such tiles are left.
            try await origin.fetch([control]) { [metrics] tiles in metrics.add(tiles) }
        }
        if !wanted.rest.isEmpty {
            let rest: any Sequence<TileID> & Sendable = wanted.taken == 0 ? batch.tiles : wanted.rest.sorted()
            let known = await session.validators(of: wanted.rest)
            let deliver: @Sendable ([FetchedTile]) async throws -> Void = { [metrics] tiles in
                metrics.add(tiles)
                try await session.add(tiles)
                meter.add(done: isRepeated ? 0 : tiles.count, bytes: tiles.reduce(0) { $0 + $1.received })
            }
            if let part = batch.part {
                try await part.fetch(wanted.rest, from: origin, known: known, deliver: deliver)
            } else {
                try await origin.fetch(rest, known: known, failedBefore: failedBefore, deliver: deliver)
            }
        }
        try Task.checkCancellation()
        let (lost, damage) = try await session.writeUnchangedTiles(expecting: work.tiles)
        if let damage {
            leave(nil, "\(damage)")
            // The meter has already counted these tiles as completed.
            let deliver: @Sendable ([FetchedTile]) async throws -> Void = { [metrics] tiles in
                metrics.add(tiles)
                try await session.add(tiles)
                meter.add(done: 0, bytes: tiles.reduce(1) { $0 + $1.received })
            }
            if let part = batch.part {
                try await part.fetch(Set(lost), from: origin, deliver: deliver)
            } else {
                try await origin.fetch(lost, deliver: deliver)
            }
        }
        try Task.checkCancellation()
        if try await source.hasChanged() { throw WorkFailure.changing(tileset) }
        var result = try await session.finish(store, expecting: work.tiles)
        result.sourceVersion = source.version ?? ""
        metrics.addShard(bytes: result.shardBytes)
        return result
    }

    /// Takes tiles that are not in the job's list of changed tiles from the previous build, as far as it has them.
    private func keepUnchanged(
        of wanted: inout SourceTiles, _ work: PBFetchWork, in session: ShardSession, _ meter: WorkMeter
    ) async throws {
        guard !work.changed.isEmpty else { return }
        let changed: TileMask
        do { changed = try TileMask(decoding: work.changed) } catch {
            throw WorkFailure(
                cause: .badBatch, detail: "The offer's mask of changed tiles is damaged: \(error)", retriable: false)
        }
        let kept = await session.keep(wanted.rest.filter { !changed.contains($0) })
        for tile in kept { wanted.remove(tile) }
        meter.add(done: kept.count, bytes: 0)
    }

    /// Adds the wanted tiles of one source to the shard.
    ///
    /// A missing or damaged source is skipped, because it is optional.
    private func addTiles(
        _ wanted: SourceTiles, from source: Data, into session: ShardSession, _ meter: WorkMeter
    ) async throws -> SourceTiles {
        try Task.checkCancellation()
        guard let digest = Digest(bytes: source), let blob = try await local(digest) else { return wanted }
        let (left, damage) = try await session.add(wanted, from: blob.url)
        withExtendedLifetime(blob) {}
        if let damage { leave(digest, "\(damage)") }
        meter.add(done: wanted.rest.count - left.rest.count, bytes: 0)
        return left
    }

    /// Opens a shard of a previous build.
    ///
    /// A missing or damaged one is skipped.
    ///
    /// - Returns: Whether another shard may be useful.
    private func open(_ base: Data, in session: ShardSession, _ wanted: SourceTiles) async throws -> Bool {
        try Task.checkCancellation()
        guard let digest = Digest(bytes: base), let blob = try await local(digest) else { return true }
        let (damage, needsMore) = await session.open(base: digest, blob, wanted: wanted.rest)
        if let damage { leave(digest, "\(damage)") }
        return needsMore
    }

    private func local(_ digest: Digest) async throws -> LocalBlob? {
        do {
            let blob = try await store.local(digest)
            if blob == nil { leave(digest, "It is not in the blob store.") }
            return blob
        } catch {
            try Task.checkCancellation()
            leave(digest, "\(error)")
            return nil
        }
    }

    private func leave(_ digest: Digest?, _ why: String) {
        metrics.addReject(.source)
        logger?.info(
            "Source not usable; its tiles are fetched",
            metadata: [LogKey.blob: "\(digest.map(\.hex) ?? "-")", LogKey.errorMessage: "\(why)"])
    }
}
