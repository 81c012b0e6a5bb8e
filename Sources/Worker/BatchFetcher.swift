internal import Foundation
internal import Origins
internal import Shards
internal import Tiles
internal import Tilesets
internal import Wire

/// Does the work of a fetch lease: from the origin through a shard into the blob store.
struct BatchFetcher: Sendable {
    let store: any BlobStore
    let origins: OriginCache

    /// Fetches every tile of the batch; tiles that cannot be had are named in the result.
    ///
    /// - Throws: ``WorkFailure``, `ShardsError`, or `CancellationError`; no file is left then.
    func run(_ work: PBFetchWork, token: UInt64, _ meter: WorkMeter) async throws -> PBCommit {
        let mask: TileMask
        do {
            mask = try TileMask(decoding: work.mask)
        } catch {
            throw WorkFailure(cause: "bad-batch", detail: "The offer's mask is damaged: \(error)", retriable: false)
        }
        guard let cell = work.cell.tileID, let zooms = ZoomRange(min: Int(work.zoomMin), max: Int(work.zoomMax)),
            zooms.max <= mask.maxZoom
        else { throw WorkFailure(cause: "bad-batch", detail: "The offer's cell or zooms are wrong.", retriable: false) }
        let count = mask.tiles(in: zooms, under: cell).reduce(into: 0 as UInt64) { count, _ in
            count += 1
        }
        guard count == work.tiles else {
            throw WorkFailure(
                cause: "bad-batch",
                detail: "The batch \(cell) \(zooms) has \(count) tiles here and \(work.tiles) in the offer.",
                retriable: false)
        }
        let (tileset, origin) = try await origins.open(Array(work.tileset), budget: work.origin)
        let session = try ShardSession(
            try store.temporaryURL(), ShardHeader(tileset: tileset.id, cell: cell, zooms: zooms))
        try await origin.fetch(mask.tiles(in: zooms, under: cell)) { tiles in
            try await session.add(tiles)
            meter.add(done: tiles.count, bytes: tiles.reduce(0) { $0 + $1.received })
        }
        try Task.checkCancellation()
        let result = try await session.finish(store, expecting: work.tiles)
        return .make {
            $0.token = token
            $0.fetch = result
        }
    }
}
