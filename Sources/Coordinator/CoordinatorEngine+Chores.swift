import Catalog
import Errors
import Foundation
import Logging
import Packages
import Scheduling
import Shards
import Telemetry
import Tiles
import Wire

extension CoordinatorEngine {
    /// Starts work outside the loop.
    ///
    /// Its report comes back through the queue of reports.
    func start(_ chore: Turn.Chore) async throws {
        switch chore {
        case .manifest(let job, let package): writeManifest(job, package)
        case .publish(let job, let package, let merged): publish(job, package, merged)
        case .release: await releaseBlobs()
        case .trim(let job): await trimBlobs(of: job)
        case .reopen(let asker, let job, let only, let permits):
            try await reopen(job, only: only, permits: permits, asker)
        case .letters(let asker, let body): try await letters(body, asker)
        case .deadOrder(let asker, let body): try await follow(body, asker)
        case .backup(let asker, let name): backUp(asker, name: name)
        case .fire(let schedule, let due): try await fire(schedule, due: due)
        case .runSchedule(let asker, let body): try await runSchedule(body, asker)
        }
    }

    /// Writes the list of everything that a merger needs, as a separate blob.
    private func writeManifest(_ job: JobID, _ package: Int) {
        guard scheduler.isLiving(job), let spec = specs[job], spec.packages.indices.contains(package) else {
            let trouble = Trouble(
                cause: FailureCause.jobFailed.rawValue, detail: "the job ended before its manifest was written")
            take(scheduler.handle(.manifestFailed(job, package: package, trouble, retriable: false), now: now))
            return
        }
        let wanted = spec.packages[package]
        let missing = failedTiles(of: wanted, job)
        var shards: [Data] = []
        var footers: [Data] = []
        for batch in scheduler.batches(of: job) where batch.state != .split && wanted.mask.contains(batch.cell) {
            guard batch.state == .done, let digest = batch.digest else { continue }
            shards.append(Data(digest.bytes))
            footers.append(Data(batch.result.footer?.bytes ?? []))
        }
        // The limit for missing tiles holds for each package, not only for the whole job.
        let share = Self.mayLack(spec.allowedMissing, of: wanted.mask.count(in: spec.zooms))
        let manifest = PBMergeManifest.make {
            $0.packageFormat = min(Self.newestPackageFormat, scheduler.packageFormat ?? .max)
            $0.packageID = wanted.id
            $0.mask = Data(wanted.mask.encoded())
            $0.zoomMin = UInt32(spec.zooms.min)
            $0.zoomMax = UInt32(spec.zooms.max)
            $0.tileset = Data(spec.tileset)
            $0.names = wanted.names
            $0.shards = shards
            $0.shardFooters = footers
            $0.bounds = wanted.bounds.map { [$0] } ?? []
            $0.allowedMissing = min(missing, share)
            $0.formats = scheduler.formats(of: job, package: package)
            if $0.formats.contains(PackageFormat.maplibre.rawValue) {
                $0.style = spec.style
                $0.dataDate = spec.dataDate ?? ""
            }
            if !spec.edition.isRoot { $0.edition = spec.edition }
        }
        workshop.run(on: .files) { [blobs, publisher, removals] in
            do {
                let bytes = try manifest.encoded()
                let digest = Digest(of: bytes)
                guard let content = ContentDigest(digest.bytes) else {
                    let trouble = Trouble(cause: "internal", detail: "the digest of a manifest has a wrong length")
                    return .event(.manifestFailed(job, package: package, trouble, retriable: false))
                }
                // An earlier job over the same shards has an identical manifest.
                removals.claim(content)
                do {
                    await removals.pass(content)
                    let temporary = try blobs.temporaryURL()
                    try await FileWork.run { try Durable.write(bytes, to: temporary) }
                    try await blobs.put(temporary, digest: digest)
                } catch {
                    removals.settle(content, mayBeNamed: false)
                    throw error
                }
                // A style is identified by its address, and its content may change.
                return .written(job, package: package, content, decides: manifest.style.isEmpty)
            } catch {
                let (trouble, mayHeal) = publisher.trouble(error)
                return .event(.manifestFailed(job, package: package, trouble, retriable: mayHeal))
            }
        }
    }

    /// Upper bound of a package's failed tiles: those of its batches.
    ///
    /// Some of them may lie outside its mask.
    private func failedTiles(of wanted: JobSpec.Package, _ job: JobID) -> UInt64 {
        scheduler.batches(of: job).reduce(0) { sum, batch in
            guard batch.state != .split, wanted.mask.contains(batch.cell) else { return sum }
            return sum + (batch.state == .done ? batch.result.failed : batch.tiles)
        }
    }

    /// The number of tiles that a package of `tiles` tiles may lack.
    static func mayLack(_ share: Double, of tiles: UInt64) -> UInt64 {
        share > 0 ? UInt64(exactly: (min(share, 1) * Double(tiles)).rounded(.down)) ?? tiles : 0
    }

    /// Puts a merged package into the catalog together with all others that wait.
    ///
    /// The scheduler has made the state `publishing` durable before.
    private func publish(_ job: JobID, _ package: Int, _ merged: MergedPackage) {
        guard scheduler.isLiving(job), let spec = specs[job], spec.packages.indices.contains(package) else { return }
        publications.add(
            Publications.Waiting(
                job: job, package: package, merged: merged, spec: spec,
                failedTiles: failedTiles(of: spec.packages[package], job)))
        workshop.run(on: .catalog) { [blobs, publisher, logger, publications, workshop] in
            await publications.pause()
            // The first waiter usually publishes this package too, unless it came too late or too many wait.
            let round = await publications.publish(blobs, publisher, logger)
            if !round.patching.isEmpty {
                // Patches of large packages take minutes. Only these jobs wait for them, other packages do not.
                workshop.run(on: .patches) {
                    try? await FileWork.run { publisher.makePatches(round.patching.map(\.order)) }
                    return .events(round.patching.map(\.event))
                }
            }
            return round.events.isEmpty ? nil : .events(round.events)
        }
    }

    /// Removes the blobs of ended jobs that no unfinished job has committed or is committing.
    ///
    /// This may remove a blob that a worker found in the store and is about to commit without writing it again. Then
    /// the commit is refused, or the shard or package is found missing later and is made again. The alternative,
    /// waiting until no job can need the blob, would keep all blobs on a cluster that is never idle.
    private func releaseBlobs() async {
        guard !options.keepShards else { return }
        let ready = unreleased.filter { !scheduler.isLiving($0) }
        unreleased.removeAll(where: ready.contains)
        releasing.formUnion(ready)
        for job in ready {
            do {
                let digests = try await store.blobs(of: job, keeping: scheduler.givingJobs)
                let ticket = removals.doom(digests)
                workshop.run(on: .removals) { [blobs, logger, removals] in
                    do {
                        while let digest = removals.next(of: ticket) {
                            if let name = Digest(bytes: digest.bytes) { try await blobs.remove(name) }
                        }
                        let left = removals.ended(ticket)
                        return left.isEmpty ? .released(job) : .postponed(job, left)
                    } catch {
                        removals.ended(ticket)
                        logger.info(
                            "Blobs not removed", metadata: [LogKey.job: "\(job)", LogKey.errorMessage: "\(error)"])
                        return .keptBlobs(job)
                    }
                }
            } catch {
                releasing.remove(job)
                logger.info("Blobs not removed", metadata: [LogKey.job: "\(job)", LogKey.errorMessage: "\(error)"])
            }
        }
    }

    /// Retries the removals that were postponed because of a claim, if the claim has ended.
    ///
    /// The database rows decide what is needed. So this only queues the removal, which starts when the rows are
    /// durable.
    func releasePostponed() {
        guard !options.keepShards else { return }
        let jobs = postponed.filter { !removals.isClaimed($0.value) }.keys
        for job in jobs { postponed[job] = nil }
        if !jobs.isEmpty { turn.chores.append(.release) }
        for job in postponedTrims.filter({ !removals.isClaimed($0.value) }).keys.sorted() {
            postponedTrims[job] = nil
            // A job whose shards are no longer kept is released completely.
            if scheduler.baselineJobs.contains(job) { turn.chores.append(.trim(job)) }
        }
    }

    /// A failure has no effect: the next start finds the job unreleased and removes again.
    func forgetBlobs(of job: JobID) async {
        releasing.remove(job)
        do {
            try await store.markReleased(job)
        } catch {
            logger.info(
                "Released blobs still listed", metadata: [LogKey.job: "\(job)", LogKey.errorMessage: "\(error)"])
        }
    }

    /// Forgets the oldest ended jobs when there are too many.
    ///
    /// A job whose blobs are still listed stays until they are removed. Otherwise the owner of the blobs would be
    /// unknown.
    func forgetOldJobs() {
        while scheduler.finishedCount > options.keptJobs, let oldest = scheduler.oldestFinished {
            guard options.keepShards || !isHeld(oldest) else { return }
            take(scheduler.handle(.forget(oldest), now: now))
        }
    }

    /// Whether blobs of an ended job still exist: other jobs may use them, or their removal has not finished.
    private func isHeld(_ job: JobID) -> Bool {
        unreleased.contains(job) || releasing.contains(job) || scheduler.isGiving(job) || scheduler.isWriting(job)
    }

    /// Removes what crashes and late commits left in the blob store.
    ///
    /// Runs once per start.
    ///
    /// Blobs are removed only while no job is unfinished, so that no blob that is still being written is needed.
    func sweep(isIdle: Bool) async throws {
        let named = isIdle && !options.keepShards ? try await store.allBlobs() : nil
        workshop.run(on: .removals) { [blobs, logger] in
            do {
                try await blobs.removeStaleTemporaries(olderThan: 86_400)
                if let named {
                    // Younger blobs stay, because a new blob may be about to be committed.
                    let removed = try await blobs.sweep(olderThan: 3_600) { digest in
                        ContentDigest(digest.bytes).map(named.contains) ?? true
                    }
                    if removed > 0 {
                        logger.notice("Unreferenced blobs removed", metadata: ["packhorse.blobs": "\(removed)"])
                    }
                }
            } catch {
                logger.info("Old files not removed", metadata: [LogKey.errorMessage: "\(error)"])
            }
            return nil
        }
    }
}
