internal import Blobs
internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import Origins
internal import Synchronization
internal import Tiles
internal import Wire

/// Plans the ranges of archives, and finds the plans that leases name.
///
/// A plan that the store has lost is made once more: it is a function of the mask and the archive.
struct RangeLeases: Sendable {
    private let store: any BlobStore
    /// The plans in use, newest last; all parts of a plan are offered one after another.
    private let recent = Recent()

    init(_ store: any BlobStore) { self.store = store }

    /// Plans the ranges of the tiles of a lease and stores the plan.
    ///
    /// - Parameter mask: Has these tiles.
    /// - Throws: ``WorkFailure``, `StorageError`, `OriginsError`, or `CancellationError`.
    func plan(
        _ work: PBFetchWork, mask: TileMask, cell: TileID, zooms: ZoomRange, from source: OriginCache.Opened,
        _ meter: WorkMeter
    ) async throws -> PBFetchResult {
        let ranges = try await Self.plan(mask, in: cell, zooms: zooms, expecting: work.tiles, from: source, meter)
        let parts = ranges.parts(in: cell, zooms: zooms)
        meter.countStep()
        let (digest, size) = try await put(ranges)
        return .make {
            $0.shard = Data(digest.bytes)
            $0.shardBytes = size
            $0.sourceVersion = source.version ?? ""
            $0.blockList = ranges.note
            $0.parts = .make {
                $0.cells = parts.map(\.cell.hilbertID)
                $0.zoomMin = parts.map { UInt32($0.zooms.min) }
                $0.zoomMax = parts.map { UInt32($0.zooms.max) }
                $0.tiles = parts.map(\.tiles)
            }
        }
    }

    /// The plan that a lease names, out of the store; `nil` when it is not there, or damaged.
    ///
    /// - Throws: `StorageError` or `CancellationError`.
    func stored(_ work: PBFetchWork) async throws -> PlannedRanges? {
        guard let digest = Digest(bytes: work.part.plan) else { return nil }
        return try await stored(digest)
    }

    /// The plan that a lease names, and the tiles of its part, each once.
    ///
    /// - Throws: As ``plan(_:mask:cell:zooms:from:_:)``; `bad-batch` when the part is not within cell and zooms.
    func part(
        _ work: PBFetchWork, mask: TileMask, cell: TileID, zooms: ZoomRange, from source: OriginCache.Opened,
        _ meter: WorkMeter
    ) async throws -> RangePart {
        guard let digest = Digest(bytes: work.part.plan), let whole = work.part.cell.tileID,
            let span = ZoomRange(min: Int(work.part.zoomMin), max: Int(work.part.zoomMax)), span.max <= mask.maxZoom
        else { throw WorkFailure(cause: .badBatch, detail: "The offer's plan is invalid.", retriable: false) }
        let ranges: PlannedRanges
        if let known = try await stored(digest) {
            ranges = known
        } else {
            ranges = try await Self.plan(mask, in: whole, zooms: span, expecting: work.part.tiles, from: source, meter)
            guard Digest(of: ranges.encoded) == digest else {
                throw WorkFailure(
                    cause: .blobMissing,
                    detail: "The plan \(digest) is not in the blob store, and another one is made now", retriable: true)
            }
            _ = try await put(ranges)
        }
        let positions = UInt64(work.part.first)..<UInt64(work.part.first) + work.tiles
        let tiles = ranges.tiles(at: positions) ?? []
        let part = RangePart(ranges: ranges, positions: positions, tiles: Set(tiles))
        guard ranges.tiles == work.part.tiles, UInt64(part.tiles.count) == work.tiles,
            part.tiles.allSatisfy({ cell.contains($0) && zooms.contains($0.zoom) && mask.contains($0) })
        else {
            throw WorkFailure(
                cause: .badBatch,
                detail: "The part of the plan has \(part.tiles.count) tiles, not \(work.tiles) of \(cell) \(zooms).",
                retriable: false)
        }
        return part
    }

    private static func plan(
        _ mask: TileMask, in cell: TileID, zooms: ZoomRange, expecting tiles: UInt64,
        from source: OriginCache.Opened, _ meter: WorkMeter
    ) async throws -> PlannedRanges {
        guard let origin = source.origin as? any PlanningOrigin else {
            throw WorkFailure(
                cause: .unsupported, detail: "The ranges of this source cannot be planned.", retriable: false)
        }
        let ranges = try await origin.plan(mask.tiles(in: zooms, under: cell)) { meter.countStep() }
        guard ranges.tiles == tiles else {
            throw WorkFailure(
                cause: .badBatch, detail: "The plan has \(ranges.tiles) of the offer's \(tiles) tiles.",
                retriable: false)
        }
        return ranges
    }

    private func put(_ ranges: PlannedRanges) async throws -> (digest: Digest, bytes: UInt64) {
        let bytes = ranges.encoded
        let digest = Digest(of: bytes)
        let temporary = try store.temporaryURL()
        do {
            try await Blocking.run("packhorse.plan") { try Durable.write(bytes, to: temporary) }
            try await store.put(temporary, digest: digest)
        } catch {
            unlink(temporary.path)
            throw error
        }
        recent.add(ranges, digest)
        return (digest, UInt64(bytes.count))
    }

    /// A plan out of the store; `nil` when it is not there, or damaged.
    private func stored(_ digest: Digest) async throws -> PlannedRanges? {
        if let known = recent[digest] { return known }
        guard let blob = try await store.local(digest) else { return nil }
        let ranges = try await Blocking.run("packhorse.plan") { () -> PlannedRanges? in
            defer { withExtendedLifetime(blob) {} }
            let file = try FileDescriptor(reading: blob.url)
            guard file.size <= UInt64(PlannedRanges.largest) else { return nil }
            let bytes = try file.read(at: 0, count: Int(file.size))
            return Digest(of: bytes) == digest ? PlannedRanges(bytes) : nil
        }
        if let ranges { recent.add(ranges, digest) }
        return ranges
    }

    /// Few decoded plans: one has some 12 MB at most.
    private final class Recent: Sendable {
        private let plans = Mutex<[(digest: Digest, ranges: PlannedRanges)]>([])

        subscript(digest: Digest) -> PlannedRanges? {
            plans.withLock { plans in plans.first { $0.digest == digest }?.ranges }
        }

        func add(_ ranges: PlannedRanges, _ digest: Digest) {
            plans.withLock { plans in
                plans.removeAll { $0.digest == digest }
                plans = plans.suffix(1) + [(digest, ranges)]
            }
        }
    }
}

/// The tiles of a lease that is a part of a plan.
struct RangePart: Sendable {
    let ranges: PlannedRanges
    let positions: Range<UInt64>
    let tiles: Set<TileID>

    /// Fetches some of the tiles.
    ///
    /// - Throws: As ``TileOrigin`` does.
    func fetch(
        _ some: Set<TileID>, from origin: any TileOrigin, known: [TileID: TileValidators] = [:],
        deliver: @Sendable ([FetchedTile]) async throws -> Void
    ) async throws {
        guard let origin = origin as? any PlanningOrigin else {
            throw WorkFailure(
                cause: .unsupported, detail: "The ranges of this source cannot be planned.", retriable: false)
        }
        try await origin.fetch(some, of: ranges, at: positions, known: known, deliver: deliver)
    }
}
