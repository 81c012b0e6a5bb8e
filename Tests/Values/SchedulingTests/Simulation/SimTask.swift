import Digests
import Scheduling
import Tiles

/// Running work: tiles finished one after the other, or a merge; then a result.
struct SimTask {
    /// The batch's tiles; `nil` before the work has begun.
    var tiles: [TileID]?
    var next = 0
    /// Tiles taken from sources.
    var reused: UInt64 = 0
    /// What shards of earlier builds have of the tiles.
    var base: [TileID: UInt64] = [:]
    /// Tiles the origin confirmed.
    var notModified: UInt64 = 0
    var settled: [SimTile] = []
    var failures: [FailedTile] = []
    /// Steps of a merge still to come.
    var steps = 0
    /// The true time of the next step.
    var at: Int64 = 0

    /// The result of a fetch when all tiles are finished.
    func result(_ shard: Digest) -> CommitResult {
        let stored = UInt64(settled.count { $0.version > 0 })
        let counts = FetchCounts(
            stored: stored, empty: UInt64(settled.count) - stored, failed: UInt64(failures.count),
            bodyBytes: stored * 100, shardBytes: SimContent.shard(settled).size, reused: reused,
            notModified: notModified)
        return .fetch(shard, counts, failures: failures)
    }
}

extension Simulation {
    /// One step of a lease's work; `nil` while there is more to do.
    mutating func step(_ worker: Int, _ place: Int) -> SimOutcome? {
        guard let process = nodes[worker].worker, case .running(var task) = process.leases[place].state else {
            return nil
        }
        let offer = process.leases[place].offer
        var outcome: SimOutcome?
        switch offer.work {
        case .fetch(_, let cell, let zooms, _): outcome = fetch(&task, offer, cell, zooms, by: worker)
        case .merge(let package, _, let manifest): outcome = merge(&task, offer, package, manifest, by: worker)
        }
        if outcome == nil { task.at = now + nodes[worker].pace(&workRandom) }
        nodes[worker].worker?.leases[place].state = .running(task)
        if swarm.attemptFails > 0, outcome != nil, !isHealed, workRandom.perMille(swarm.attemptFails) {
            outcome = .failed(Trouble(cause: "internal", detail: "simulated"), retriable: true)
        }
        return outcome
    }

    private mutating func fetch(
        _ task: inout SimTask, _ offer: Offer, _ cell: TileID, _ zooms: ZoomRange, by worker: Int
    ) -> SimOutcome? {
        guard let spec = spec(of: offer.job) else {
            return .failed(Trouble(cause: "bad-batch", detail: "no such job"), retriable: true)
        }
        if offer.isToPlan { return plan(&task, offer, spec, cell, zooms, by: worker) }
        if task.tiles == nil {
            task.base = known(offer.base)
            let own = tiles(of: offer, spec, cell, zooms)
            take(own.tiles, from: offer.sources, into: &task)
            task.settled += own.lost.map { SimTile(tile: $0, version: 0) }
        }
        let tiles = task.tiles ?? []
        let end = min(task.next + Int(1 + workRandom.below(Int64(6))), tiles.count)
        for tile in tiles[task.next..<end] {
            observe(requestFor: offer, by: worker)
            if origin.isPoison(tile) {
                return .failed(Trouble(cause: "bad-mvt", detail: "\(tile)"), retriable: true)
            }
            switch origin.ask(tile, for: offer.job, by: worker, now: now, isHealed: isHealed) {
            case .tile(let version):
                if version > 1 { marks.hit(.originChanged) }
                if version > 0, task.base[tile] == version {
                    task.notModified += 1
                    marks.hit(.tilesConfirmed)
                }
                task.settled.append(SimTile(tile: tile, version: version))
            case .failed(let trouble): task.failures.append(FailedTile(tile: tile, trouble: trouble))
            }
        }
        task.next = end
        advance(worker, offer.token, done: task.reused + UInt64(end), bytes: UInt64(end) * 90)
        guard end == tiles.count else { return nil }
        guard !isFull(worker) else { return .failed(Trouble(cause: "disk-full", detail: "sim"), retriable: true) }
        task.settled.sort { $0.tile < $1.tile }
        let content = SimContent.shard(task.settled)
        // Nothing new: the shard of before is offered again, and not written.
        if offer.base.contains(content.digest), blobs[content.digest]?.isDamaged == false {
            marks.hit(.shardKept)
            return .done(task.result(content.digest))
        }
        return .done(task.result(put(content)))
    }

    private func known(_ shards: [Digest]) -> [TileID: UInt64] {
        var known: [TileID: UInt64] = [:]
        for shard in shards {
            guard let blob = blobs[shard], !blob.isDamaged, case .shard(let held) = blob.content else { continue }
            for tile in held where known[tile.tile] == nil { known[tile.tile] = tile.version }
        }
        return known
    }

    /// Takes what the sources hold; one that is gone or damaged is only a help less.
    private mutating func take(_ tiles: [TileID], from sources: [Digest], into task: inout SimTask) {
        var known = known(sources)
        if mutant == .believesBaselines { known.merge(task.base) { source, _ in source } }
        task.settled = tiles.compactMap { tile in known[tile].map { SimTile(tile: tile, version: $0) } }
        task.reused = UInt64(task.settled.count)
        task.tiles = tiles.filter { known[$0] == nil }
        if task.reused > 0 { marks.hit(.tilesReused) }
    }

    private mutating func merge(
        _ task: inout SimTask, _ offer: Offer, _ package: PackageIndex, _ manifest: Digest, by worker: Int
    ) -> SimOutcome? {
        if task.tiles == nil {
            task.tiles = []
            task.steps = Int(workRandom.below(Int64(8)))
        }
        task.steps -= 1
        advance(worker, offer.token, done: 0, bytes: UInt64(100 - task.steps))
        guard task.steps < 0 else { return nil }
        guard let blob = blobs[manifest], case .manifest(let list) = blob.content else {
            return .failed(Trouble(cause: "manifest-missing", detail: "\(manifest)"), retriable: true)
        }
        if blob.isDamaged { return .failed(Trouble(cause: "manifest-corrupt", detail: "\(manifest)"), retriable: true) }
        let missing = list.shards.filter { blobs[$0] == nil }
        guard missing.isEmpty else {
            return .failed(Trouble(cause: "shard-missing", detail: ""), retriable: true, lostShards: missing)
        }
        var found: [TileID: UInt64] = [:]
        for shard in list.shards {
            guard let blob = blobs[shard], case .shard(let tiles) = blob.content else { continue }
            if blob.isDamaged, mutant != .trustsShards {
                return .failed(Trouble(cause: "shard-corrupt", detail: ""), retriable: true, lostShards: [shard])
            }
            for tile in tiles { found[tile.tile] = blob.isDamaged ? tile.version + 1_000 : tile.version }
        }
        let spec = specs[list.spec]
        var (tiles, lacking): ([SimTile], UInt64) = ([], 0)
        for tile in spec.masks[list.package].tiles(in: spec.zooms) {
            guard let version = found[tile] else {
                lacking += 1
                continue
            }
            if version > 0 { tiles.append(SimTile(tile: tile, version: version)) }
        }
        guard lacking <= list.allowedMissing else {
            let detail = "\(lacking) tiles are in no shard, \(list.allowedMissing) may lack"
            return .failed(Trouble(cause: "missing-tiles", detail: detail), retriable: false)
        }
        guard !isFull(worker) else { return .failed(Trouble(cause: "disk-full", detail: "sim"), retriable: true) }
        let digest = put(.package(tiles))
        let files = spec.formats(of: list.package).map { format in
            let content = SimContent.file(tiles, format: format)
            return MergedFile(format: format, digest: put(content), size: content.size)
        }
        return .done(
            .merge(
                MergedPackage(
                    digest: digest, size: SimContent.package(tiles).size, tiles: UInt64(tiles.count), tilesHash: "h",
                    files: files)))
    }

    mutating func advance(_ worker: Int, _ token: LeaseToken, done: UInt64, bytes: UInt64) {
        guard let place = nodes[worker].worker?.leases.firstIndex(where: { $0.offer.token == token }) else { return }
        nodes[worker].worker?.leases[place].done = done
        nodes[worker].worker?.leases[place].bytes = bytes
    }

    /// Writes a blob: it is flushed before it is reported, except by the mutant.
    mutating func put(_ content: SimContent) -> Digest {
        blobs.put(content, now: now, flush: mutant == .publishBeforeSync ? 30_000 : 0)
    }
}
