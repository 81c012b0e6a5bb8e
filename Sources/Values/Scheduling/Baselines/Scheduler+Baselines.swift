import Digests
import Tiles

/// Incremental rebuilds: a rebuild transfers only what has changed.
///
/// A finished job keeps its shards as a *previous build*. It replaces older ones that are no longer useful; their
/// number and size are limited. A batch is offered together with the shards of previous builds that may contain its
/// tiles. Unlike sources, these are never used unchecked: the worker asks the origin about each tile, with its
/// validators. Previous builds are optional; a missing one only costs transfers.
extension Scheduler {
    /// The previous build of a job that has just finished; `nil` when it is not wanted or too large.
    func baseline(of job: JobPlace) -> Baseline? {
        guard jobs[job].summary.state == .done, jobs[job].tileset != nil,
            let baseline = Baseline(jobs[job].summary, batches: jobs[job].batches.elements),
            SchedulerPolicy.maxBaselines > 0,
            baseline.bytes <= policy.baselineBytes
        else { return nil }
        return baseline
    }

    /// Keeps a previous build, and releases those that it replaces and the oldest beyond the limits.
    mutating func keepBaseline(_ baseline: Baseline, of job: JobPlace) {
        guard let tileset = jobs[job].tileset else { return }
        let spent = baselines.of(tileset).filter { $0.job != baseline.job && baseline.replaces($0) }.map(\.job)
        baselines.insert(baseline, of: tileset)
        effects.append(.trim(baseline.job))
        for id in spent { releaseBaseline(id) }
        limitBaselines()
    }

    /// After a start: takes over the builds from the store that are within the current limits.
    mutating func adoptBaselines() {
        for job in jobs.indices where jobs[job].summary.state == .done && jobs[job].summary.keepsBlobs {
            let id = jobs[job].summary.id
            if baselines.contains(id) { effects.append(.trim(id)) } else { _ = releaseEndedJob(job) }
        }
        limitBaselines()
    }

    private mutating func limitBaselines() {
        while baselines.count > SchedulerPolicy.maxBaselines || baselines.bytes > policy.baselineBytes,
            let oldest = baselines.jobs.first
        {
            releaseBaseline(oldest)
        }
    }

    mutating func releaseBaseline(_ id: JobID) {
        baselines.remove(id)
        if let job = places[id] { _ = releaseEndedJob(job) }
    }

    /// Restores the previous build of a stored job.
    mutating func restoreBaseline(_ stored: StoredJob) {
        guard let tileset = stored.tileset, let baseline = Baseline(stored.summary, batches: stored.batches) else {
            return
        }
        baselines.insert(baseline, of: tileset)
    }

    /// The shards of previous builds that may contain tiles of a batch: first one with exactly the same tiles, then the
    /// nearest, and of equal ones the newest.
    ///
    /// A job that asks the origin only for changed tiles gets the newest first: it takes the others as they are.
    func base(_ job: JobPlace, batch index: BatchIndex) -> [Digest] {
        guard let tileset = jobs[job].tileset else { return [] }
        let batch = jobs[job].batches[index]
        let shape = Baseline.Shape(cell: batch.cell, zooms: batch.zooms, tiles: batch.tiles)
        let identity = jobs[job].summary.identity
        var found: [(distance: Int, digest: Digest)] = []
        for baseline in baselines.of(tileset) {
            let isOwn = identity != nil && baseline.identity == identity
            for place in baseline.runs.touching(batch.cell, { baseline.shards[$0].cell }) {
                let shard = baseline.shards[place]
                guard shard.zooms.intersection(batch.zooms) != nil else { continue }
                let distance = shard.shape == shape ? (isOwn ? -2 : -1) : abs(shard.cell.zoom - batch.cell.zoom)
                found.append((distance, shard.digest))
            }
        }
        var seen: Set<Digest> = []
        if jobs[job].asksChangedOnly { found = found.map { (distance: 0, digest: $0.digest) } }
        let near = found.enumerated().sorted { ($0.element.distance, $0.offset) < ($1.element.distance, $1.offset) }
        return Array(near.map(\.element.digest).filter { seen.insert($0).inserted }.prefix(SchedulerPolicy.maxBases))
    }

    // MARK: - Packages with nothing new

    /// Records the manifest from which a package in the catalog was made.
    mutating func recordMadePackage(_ job: JobPlace, package: PackageIndex) {
        let row = jobs[job].packages[package]
        guard row.state.isPublished, row.merged != nil, let manifest = row.manifest else { return }
        made[manifest] = .package(job: job, index: package)
    }

    /// Forgets the manifests of a job's packages.
    mutating func forgetMadePackages(_ job: JobPlace) {
        for package in jobs[job].packages {
            if let manifest = package.manifest, made[manifest]?.job == job { made[manifest] = nil }
        }
    }

    /// The merged package in the catalog that was made from exactly this manifest.
    ///
    /// The bytes of a package are a function of its manifest.
    func merged(from manifest: Digest) -> MergedPackage? {
        guard case .package(let job, let index)? = made[manifest], jobs.contains(job),
            jobs[job].packages.indices.contains(index), jobs[job].packages[index].manifest == manifest,
            jobs[job].packages[index].state.isPublished
        else { return nil }
        return jobs[job].packages[index].merged
    }
}
