import HeapModule
import Scheduling
import Tiles

/// The oracle: what must be true of a package, and of everything when all is over.
extension Simulation {
    /// Whether every client has what it asked for and every job has ended.
    var isSettled: Bool {
        clients.allSatisfy(\.isContent) && coordinator?.held == nil
            && store.state.jobs.allSatisfy(\.summary.state.isFinal)
    }

    /// A package as it is put into the catalog, tile by tile, against its shards and its mask (I1, I2, I3).
    ///
    /// - Parameter stands: Whether the catalog has it already, its blob being gone.
    mutating func checkPublished(_ id: JobID, _ index: PackageIndex, _ merged: MergedPackage, stands: Bool = false) {
        guard let spec = spec(of: id) else { return problem("I1: published for no job") }
        guard stands || blobs[merged.digest]?.isDamaged == false,
            case .package(let tiles)? = blobs.archive[merged.digest]
        else {
            return problem("I3: package \(index) of job \(id) is published torn")
        }
        if !stands { checkFiles(id, index, merged, tiles, spec.formats(of: index)) }
        guard let manifest = checker.manifests[merged.digest], case .manifest(let list)? = blobs.archive[manifest]
        else {
            return problem("I1: package \(index) of job \(id) has no manifest")
        }
        var wanted: [TileID: UInt64] = [:]
        let accepted = Set(checker.accepted.values)
        for digest in list.shards {
            guard accepted.contains(digest), case .shard(let shard)? = blobs.archive[digest] else {
                return problem("I5: package \(index) of job \(id) holds a shard that was never accepted")
            }
            for tile in shard { wanted[tile.tile] = tile.version }
        }
        let since = freshSince(id)
        var expected: [SimTile] = []
        for tile in spec.masks[index].tiles(in: spec.zooms) {
            guard let version = wanted[tile] else {
                if checker.failed[id]?.contains(tile) != true {
                    problem("I2: \(tile) of job \(id) is lost without a word")
                }
                continue
            }
            if (version == 0) != SimOrigin.isEmpty(tile) || version > origin.version(of: tile, at: now) {
                problem("I1: \(tile) of job \(id) has version \(version), which the origin never had")
            }
            if version > 0, version < origin.version(of: tile, at: since) {
                problem("I14: \(tile) of job \(id) is version \(version), older than the job")
            }
            if version > 0 { expected.append(SimTile(tile: tile, version: version)) }
        }
        if expected != tiles {
            problem("I2: package \(index) of job \(id) has \(tiles.count) tiles, its shards say \(expected.count)")
        }
    }

    /// No tile of a job may be older than this: its submission, or that of the earliest job whose shards could reach it, each having run
    /// at the same time as the next.
    private func freshSince(_ id: JobID) -> Int64 {
        var since = store.created[id] ?? 0
        // Jobs that are forgotten by now count too.
        while let earlier = store.created.keys.sorted().first(where: { other in
            (store.created[other] ?? 0) < since && (store.ended[other] ?? .max) >= since
        }) {
            since = store.created[earlier] ?? 0
        }
        return since
    }

    /// Every requested format exists, is intact, and contains the package's tiles (I2, I3).
    private mutating func checkFiles(
        _ id: JobID, _ index: PackageIndex, _ merged: MergedPackage, _ tiles: [SimTile], _ formats: [String]
    ) {
        if merged.files.map(\.format) != formats {
            problem("I2: package \(index) of job \(id) has the formats \(merged.files.map(\.format)), not \(formats)")
        }
        for file in merged.files {
            guard blobs[file.digest]?.isDamaged == false,
                blobs.archive[file.digest] == .file(tiles, format: file.format)
            else {
                problem("I3: the \(file.format) of package \(index) of job \(id) is published torn or with other tiles")
                continue
            }
            marks.hit(.formatsMerged)
        }
    }

    /// What is wrong with an ended job, or `nil`.
    func verdict(on job: StoredJob) -> String? {
        let id = job.summary.id
        guard let index = job.payload.first.map({ Int($0) }) else { return "job \(id) lost its payload" }
        switch job.summary.state {
        case .done:
            for package in job.packages
            where catalog[package.id]?.contains(where: { $0 == package.merged?.digest }) != true {
                return "I2: package \(package.id) of the done job \(id) is not in the catalog"
            }
            return nil
        case .cancelled:
            return clients.contains { $0.spec == index && $0.ordersCancel }
                ? nil : "job \(id) was cancelled without a request"
        case .failed:
            // A job may fail of what cannot be had, and of counted attempts; always with a reason.
            if job.summary.reason.isEmpty { return "job \(id) failed without a reason" }
            let isStrict = specs[index].submission.allowedMissing == 0
            // A package may have been given up for tiles that were fetched later, because a shard was lost.
            let lacks = isStrict && (job.summary.counts.failed > 0 || checker.failed[id]?.isEmpty == false)
            let isBare = job.summary.reason.contains("no-tiles")
            if job.summary.reason.contains("which it waited for") { return nil }
            return lacks || isBare || swarm.attemptsAreCounted
                ? nil : "I4: job \(id) failed: \(job.summary.reason)"
        case .fetching, .merging, .publishing: return "I4: job \(id) did not end"
        }
    }

    /// The checks of the end: every job, the log, and what is left in the blob store after an idle restart.
    mutating func finalVerdict() -> String? {
        for job in store.state.jobs { if let wrong = verdict(on: job) { return describe(wrong) } }
        let replayed = store.log.reduce(into: StoredState()) { $0.apply($1) }
        if replayed != store.state { return describe("I10: the log replayed is another state") }
        settleBlobs()
        if let first = checker.problems.first { return describe(first) }
        let kept = Set(store.named { $0.summary.keepsBlobs })
        if let left = blobs.order.first(where: { !kept.contains($0) }) {
            return describe("I9: \(blobs.order.count) blobs are left, the first \(left)")
        }
        return nil
    }

    /// Lets the removal of blobs run out, then an idle restart two hours later.
    private mutating func settleBlobs() {
        for _ in 0..<2 {
            let end = now + 20_000
            while let next = mail.min, next.at <= end {
                mail.removeMin()
                now = max(now, next.at)
                if case .report(let report, let owner) = next.parcel { finish(report, owner) }
                if case .coordinatorWake = next.parcel { coordinatorTurn() }
            }
            now = max(now, end) + 7_200_000
            killCoordinator()
            coordinatorDownUntil = now
            bootCoordinator()
        }
    }
}
