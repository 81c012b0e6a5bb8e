import Digests
import HeapModule
import Tiles

/// The shards of an ended job, for the unfinished jobs that ran at the same time.
struct ShardSource: Sendable {
    let job: JobID
    let shards: [(cell: TileID, zooms: ZoomRange, digest: Digest)]
    let runs: CellRuns
    /// Unfinished jobs of the same tileset that were submitted before this one ended.
    var heldFor: [JobID]
    /// See ``JobSummary/sourceVersion``.
    let sourceVersion: String?

    init(_ summary: JobSummary, batches: [Batch], heldFor: [JobID]) {
        job = summary.id
        sourceVersion = summary.sourceVersion
        self.heldFor = heldFor
        let shards = batches.compactMap { batch in
            batch.shard.map { (cell: batch.cell, zooms: batch.zooms, digest: $0) }
        }
        var runs = CellRuns()
        runs.extend(to: shards.count) { shards[$0].cell }
        self.shards = shards
        self.runs = runs
    }
}

/// Sharing of tiles between jobs: each tile is fetched once by the first job of its tileset.
///
/// A batch is offered with the shards that may contain its tiles: results of its earlier attempts, and results of jobs
/// of the same tileset that ran at the same time. A job that was inactive with fetched tiles shares none, because they
/// may be stale; neither does one that asks the origin only for changed tiles. While another job is fetching tiles of a batch, the batch waits for the end of that lease, and its job
/// continues with other batches. A batch never waits for anything but a live lease.
extension Scheduler {
    // MARK: - Jobs that share tiles

    /// Adds a job to the jobs that share its tileset.
    mutating func share(_ job: JobPlace, stored: StoredJob) {
        guard let tileset = jobs[job].tileset else { return }
        if !jobs[job].summary.state.isFinal {
            sharing[tileset, default: []].append(job)
        } else if !stored.heldFor.isEmpty, !stored.asksChangedOnly {
            shardSources[tileset, default: []].append(
                ShardSource(stored.summary, batches: stored.batches, heldFor: stored.heldFor))
        }
    }

    /// Keeps the shards of a job that ends, if others may use them.
    mutating func keepSources(of job: JobPlace) {
        guard let tileset = jobs[job].tileset else { return }
        sharing[tileset]?.removeAll { $0 == job }
        guard let others = sharing[tileset], !others.isEmpty else {
            sharing[tileset] = nil
            return
        }
        guard !jobs[job].summary.wasPaused, !jobs[job].asksChangedOnly else { return }
        let source = ShardSource(
            jobs[job].summary, batches: jobs[job].batches.elements, heldFor: others.map { jobs[$0].summary.id })
        if !source.shards.isEmpty { shardSources[tileset, default: []].append(source) }
    }

    /// Releases the blobs that no job can use any more after a job has ended: its own, and those kept for it.
    mutating func releaseSources(after job: JobPlace) {
        let id = jobs[job].summary.id
        guard let tileset = jobs[job].tileset, var held = shardSources[tileset] else {
            releaseUnused(id)
            return
        }
        for index in held.indices { held[index].heldFor.removeAll { $0 == id } }
        let surplus = max(held.count - SchedulerPolicy.maxShardSources, 0)
        let spent = held.enumerated().filter { $1.heldFor.isEmpty || $0 < surplus }.map(\.element.job)
        held.removeAll { spent.contains($0.job) }
        shardSources[tileset] = held.isEmpty ? nil : held
        for source in spent where source != id { releaseUnused(source) }
        releaseUnused(id)
    }

    /// Releases the blobs of an ended job, unless other jobs may use them, a retry of the job may use them, or one of
    /// its manifests is being written.
    mutating func releaseUnused(_ id: JobID) {
        let isKept = places[id].map { jobs[$0].summary.keepsBlobs } ?? false
        if !isKept, !isGiving(id), !isWriting(id) { effects.append(.release(id)) }
    }

    /// The shards of an ended job that are kept for others.
    func keptShards(of id: JobID) -> [Digest] {
        shardSources.values.joined().filter { $0.job == id }.flatMap { $0.shards.map(\.digest) }
    }

    /// Forgets the shards of an ended job.
    mutating func removeShardSource(_ id: JobID) {
        for (tileset, kept) in shardSources where kept.contains(where: { $0.job == id }) {
            let rest = kept.filter { $0.job != id }
            shardSources[tileset] = rest.isEmpty ? nil : rest
        }
    }

    // MARK: - What a batch can use

    /// The shards that may contain tiles of a batch, nearest first: results of its own attempts, cells of its size,
    /// then others.
    ///
    /// All of them are from this version of the source's data.
    func sources(_ job: JobPlace, batch index: BatchIndex, of version: String?) -> [Digest] {
        let batch = jobs[job].batches[index]
        var found: [(distance: Int, digest: Digest)] = []
        if let partial = batch.partial { found.append((-1, partial)) }
        if let tileset = jobs[job].tileset {
            for other in sharing[tileset] ?? [] where other != job && canShareTiles(other, of: version) {
                for place in touching(batch, in: other) {
                    let theirs = jobs[other].batches[place]
                    guard let digest = theirs.shard else { continue }
                    found.append((abs(theirs.cell.zoom - batch.cell.zoom), digest))
                }
            }
            let id = jobs[job].summary.id
            for source in shardSources[tileset] ?? []
            where source.heldFor.contains(id) && source.sourceVersion == version {
                for place in source.runs.touching(batch.cell, { source.shards[$0].cell })
                where source.shards[place].zooms.intersection(batch.zooms) != nil {
                    found.append((abs(source.shards[place].cell.zoom - batch.cell.zoom), source.shards[place].digest))
                }
            }
        }
        var seen: Set<Digest> = []
        let near = found.enumerated().sorted { ($0.element.distance, $0.offset) < ($1.element.distance, $1.offset) }
        return Array(near.map(\.element.digest).filter { seen.insert($0).inserted }.prefix(policy.maxSources))
    }

    private func canShareTiles(_ job: JobPlace, of version: String?) -> Bool {
        !jobs[job].summary.wasPaused && !jobs[job].asksChangedOnly && jobs[job].summary.sourceVersion == version
    }

    /// The batches of another job that may contain tiles of a batch.
    private func touching(_ batch: Batch, in other: JobPlace) -> [BatchIndex] {
        jobs[other].cells.touching(batch.cell) { jobs[other].batches[BatchIndex($0)].cell }.map(BatchIndex.init)
            .filter { jobs[other].batches[$0].zooms.intersection(batch.zooms) != nil }
    }

    // MARK: - Waiting for a live lease

    /// A leased batch of another job that may contain tiles of this one, or `nil`.
    func holder(of job: JobPlace, batch index: BatchIndex) -> WorkRef? {
        guard let tileset = jobs[job].tileset, let others = sharing[tileset], others.count > 1 else { return nil }
        let batch = jobs[job].batches[index]
        for other in others where other != job && jobs[other].summary.counts[.leased] > 0 {
            if let place = touching(batch, in: other).first(where: { isFetched(jobs[other].batches[$0]) }) {
                return .batch(job: other, index: place)
            }
        }
        return nil
    }

    private func isFetched(_ batch: Batch) -> Bool { batch.state == .leased && batch.role != .plan }

    /// Parks the first ready batches of a job while another job is fetching their tiles.
    ///
    /// Returns whether a batch is left that can be granted.
    mutating func parkBlockedBatches(_ job: JobPlace) -> Bool {
        extendCells(job)
        while let index = jobs[job].firstReady() {
            // A plan fetches no tiles.
            guard jobs[job].batches[index].role != .plan, let holder = holder(of: job, batch: index) else {
                return true
            }
            jobs[job].ready.removeMin()
            jobs[job].parked.insert(index)
            parked[holder, default: []].append(.batch(job: job, index: index))
        }
        return false
    }

    /// Batches may have been appended since the last call.
    private mutating func extendCells(_ job: JobPlace) {
        guard let tileset = jobs[job].tileset else { return }
        for place in sharing[tileset] ?? [] where jobs[place].cells.count < jobs[place].batches.count {
            var cells = jobs[place].cells
            cells.extend(to: jobs[place].batches.count) { jobs[place].batches[BatchIndex($0)].cell }
            jobs[place].cells = cells
        }
    }

    /// Queues the batches again that waited for the end of a lease.
    mutating func unpark(behind work: WorkRef) {
        for case .batch(let job, let index) in parked.removeValue(forKey: work) ?? [] {
            guard jobs.contains(job), jobs[job].parked.remove(index) != nil else { continue }
            jobs[job].ready.insert(index)
            queue(job)
        }
    }
}
