import HeapModule
import Tiles

/// The shards of a job that has ended, for the unfinished jobs that ran beside it.
struct Donor: Sendable {
    let job: JobID
    let shards: [(cell: TileID, zooms: ZoomRange, digest: ContentDigest)]
    let runs: CellRuns
    /// Unfinished jobs of the same tileset that were submitted before this one ended.
    var heldFor: [JobID]
    /// See ``JobSummary/sourceVersion``.
    let sourceVersion: String?

    init(_ summary: JobSummary, _ batches: [Batch], heldFor: [JobID]) {
        job = summary.id
        sourceVersion = summary.sourceVersion
        self.heldFor = heldFor
        let shards = batches.compactMap { batch in
            (batch.digest ?? batch.partial).map { (cell: batch.cell, zooms: batch.zooms, digest: $0) }
        }
        var runs = CellRuns()
        runs.extend(to: shards.count) { shards[$0].cell }
        self.shards = shards
        self.runs = runs
    }
}

/// Each tile is fetched once, whichever job of its tileset comes first.
///
/// A batch is offered with the shards that may hold its tiles: what an earlier attempt left, and what jobs of the same tileset fetched
/// that ran at the same time; one that stood still with tiles in hand gives none, for they may be old. While another job fetches tiles of it
/// at this moment, it waits for the end of that lease, its job goes on with others, and nobody ever waits for anything but a live lease.
extension Scheduler {
    // MARK: - Who shares

    /// Takes a job into the circle of its tileset.
    mutating func share(_ job: Int, _ stored: StoredJob) {
        guard let tileset = jobs[job].tileset else { return }
        if !jobs[job].summary.state.isFinal {
            sharing[tileset, default: []].append(job)
        } else if !stored.heldFor.isEmpty {
            donors[tileset, default: []].append(Donor(stored.summary, stored.batches, heldFor: stored.heldFor))
        }
    }

    /// Keeps the shards of a job that ends, if others may use them.
    mutating func keepSources(of job: Int) {
        guard let tileset = jobs[job].tileset else { return }
        sharing[tileset]?.removeAll { $0 == job }
        guard let others = sharing[tileset], !others.isEmpty else {
            sharing[tileset] = nil
            return
        }
        guard !jobs[job].summary.hasRested else { return }
        let donor = Donor(jobs[job].summary, jobs[job].batches, heldFor: others.map { jobs[$0].summary.id })
        if !donor.shards.isEmpty { donors[tileset, default: []].append(donor) }
    }

    /// Lets the blobs go that nobody can use any more now that a job has ended: its own, and those kept for it.
    mutating func releaseSources(after job: Int) {
        let id = jobs[job].summary.id
        guard let tileset = jobs[job].tileset, var held = donors[tileset] else {
            releaseUnused(id)
            return
        }
        for index in held.indices { held[index].heldFor.removeAll { $0 == id } }
        let surplus = max(held.count - policy.mostDonors, 0)
        let spent = held.enumerated().filter { $1.heldFor.isEmpty || $0 < surplus }.map(\.element.job)
        held.removeAll { spent.contains($0.job) }
        donors[tileset] = held.isEmpty ? nil : held
        for donor in spent where donor != id { releaseUnused(donor) }
        releaseUnused(id)
    }

    /// Lets the blobs of an ended job go, unless others may use them, a retry of its own may, or a manifest of it is being
    /// written.
    mutating func releaseUnused(_ id: JobID) {
        let isKept = places[id].map { jobs[$0].summary.keepsBlobs } ?? false
        if !isKept, !isGiving(id), !isWriting(id) { effects.append(.release(id)) }
    }

    /// The shards of an ended job that are kept for others.
    func given(by id: JobID) -> [ContentDigest] {
        donors.values.joined().filter { $0.job == id }.flatMap { $0.shards.map(\.digest) }
    }

    /// Forgets the shards of an ended job.
    mutating func stopGiving(_ id: JobID) {
        for (tileset, kept) in donors where kept.contains(where: { $0.job == id }) {
            let rest = kept.filter { $0.job != id }
            donors[tileset] = rest.isEmpty ? nil : rest
        }
    }

    // MARK: - What a batch can use

    /// The shards that may hold tiles of a batch, nearest first: what its own attempts left, cells of its size, then others; all of them
    /// made from this version of the source's data.
    func sources(_ job: Int, _ index: Int, of version: String?) -> [ContentDigest] {
        let batch = jobs[job].batches[index]
        var found: [(distance: Int, digest: ContentDigest)] = []
        if let partial = batch.partial { found.append((-1, partial)) }
        if let tileset = jobs[job].tileset {
            for other in sharing[tileset] ?? [] where other != job && isGiver(other, of: version) {
                for place in touching(batch, in: other) {
                    let theirs = jobs[other].batches[place]
                    guard let digest = theirs.digest ?? theirs.partial else { continue }
                    found.append((abs(theirs.cell.zoom - batch.cell.zoom), digest))
                }
            }
            let id = jobs[job].summary.id
            for donor in donors[tileset] ?? [] where donor.heldFor.contains(id) && donor.sourceVersion == version {
                for place in donor.runs.touching(batch.cell, { donor.shards[$0].cell })
                where donor.shards[place].zooms.intersection(batch.zooms) != nil {
                    found.append((abs(donor.shards[place].cell.zoom - batch.cell.zoom), donor.shards[place].digest))
                }
            }
        }
        var seen: Set<ContentDigest> = []
        let near = found.enumerated().sorted { ($0.element.distance, $0.offset) < ($1.element.distance, $1.offset) }
        return Array(near.map(\.element.digest).filter { seen.insert($0).inserted }.prefix(policy.mostSources))
    }

    private func isGiver(_ job: Int, of version: String?) -> Bool {
        !jobs[job].summary.hasRested && jobs[job].summary.sourceVersion == version
    }

    /// The batches of another job that may hold tiles of a batch.
    private func touching(_ batch: Batch, in other: Int) -> [Int] {
        jobs[other].cells.touching(batch.cell) { jobs[other].batches[$0].cell }
            .filter { jobs[other].batches[$0].zooms.intersection(batch.zooms) != nil }
    }

    // MARK: - Waiting for a live lease

    /// A batch of another job that is leased and may hold tiles of this one, or `nil`.
    func holder(of job: Int, _ index: Int) -> WorkRef? {
        guard let tileset = jobs[job].tileset, let others = sharing[tileset], others.count > 1 else { return nil }
        let batch = jobs[job].batches[index]
        for other in others where other != job && jobs[other].summary.counts[.leased] > 0 {
            if let place = touching(batch, in: other).first(where: { jobs[other].batches[$0].state == .leased }) {
                return .batch(job: other, index: place)
            }
        }
        return nil
    }

    /// Puts aside the first ready batches of a job while another job fetches their tiles; whether one is left that can be granted.
    mutating func clearWay(_ job: Int) -> Bool {
        extendCells(job)
        while let index = jobs[job].firstReady() {
            guard let holder = holder(of: job, index) else { return true }
            jobs[job].ready.removeMin()
            jobs[job].parked.insert(index)
            parked[holder, default: []].append(.batch(job: job, index: index))
        }
        return false
    }

    /// Batches may have been appended since the last look.
    private mutating func extendCells(_ job: Int) {
        guard let tileset = jobs[job].tileset else { return }
        for place in sharing[tileset] ?? [] where jobs[place].cells.count < jobs[place].batches.count {
            var cells = jobs[place].cells
            cells.extend(to: jobs[place].batches.count) { jobs[place].batches[$0].cell }
            jobs[place].cells = cells
        }
    }

    /// Lines up again what waited for the end of a lease.
    mutating func unpark(behind work: WorkRef) {
        for case .batch(let job, let index) in parked.removeValue(forKey: work) ?? [] {
            guard jobs.contains(job), jobs[job].parked.remove(index) != nil else { continue }
            jobs[job].ready.insert(index)
            queue(job)
        }
    }
}
