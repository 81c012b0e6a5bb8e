import Digests
import Scheduling
import Tiles

/// The background work of the coordinator: manifests, publishing, removal of blobs.
extension Simulation {
    mutating func start(_ chore: SimCoordinator.Chore) {
        guard let incarnation = coordinator?.incarnation else { return }
        let later = now + workRandom.below(Int64(3_000))
        switch chore {
        case .manifest(let id, let package):
            guard coordinator?.scheduler.isLiving(id) == true, let content = manifest(id, package) else {
                let trouble = Trouble(cause: "job-ended", detail: "")
                return hand(.manifestFailed(id, package: package, trouble, retriable: false))
            }
            schedule(.report(.manifest(id, package: package, content), incarnation), at: later)
        case .publish(let id, let package, let merged):
            guard coordinator?.scheduler.isLiving(id) == true else { return }
            loseOnItsWay(merged)
            schedule(.report(.publish(id, package: package, merged), incarnation), at: later)
        case .publishTogether(let id):
            guard let scheduler = coordinator?.scheduler, scheduler.isLiving(id), scheduler.canPublishTogether(id)
            else { return }
            var all: [(package: PackageIndex, merged: MergedPackage)] = []
            for (number, package) in scheduler.packages(of: id).enumerated() where package.state == .publishing {
                if let merged = package.merged { all.append((PackageIndex(number), merged)) }
            }
            if let merged = all.last?.merged { loseOnItsWay(merged) }
            schedule(.report(.publishTogether(id, all), incarnation), at: later)
        case .release:
            let ready = coordinator?.unreleased.filter { coordinator?.scheduler.isLiving($0) == false } ?? []
            coordinator?.unreleased.removeAll(where: ready.contains)
            for id in ready {
                coordinator?.releasing.insert(id)
                say("the blobs of job \(id) are to go")
                let needed = needed(but: id)
                let gone = store.named { $0.summary.id == id }
                    .filter { mutant == .releasesTooMuch || !needed.contains($0) }
                for digest in gone { coordinator?.removing[digest, default: 0] += 1 }
                schedule(.report(.released(id, gone), incarnation), at: later)
            }
        case .trim(let id):
            let needed = needed(but: id)
            let gone = store.job(id).map(store.others)?.filter { !needed.contains($0) } ?? []
            for digest in gone { coordinator?.removing[digest, default: 0] += 1 }
            schedule(.report(.trimmed(gone), incarnation), at: later)
        }
    }

    /// The seconds in which only the publisher notices a lost file.
    private mutating func loseOnItsWay(_ merged: MergedPackage) {
        guard !isHealed, faultRandom.perMille(swarm.lostBlob * 30) else { return }
        let digest = merged.digests[faultRandom.below(merged.digests.count)]
        guard blobs[digest] != nil else { return }
        marks.hit(.blobLost)
        say("blob \(digest) is lost on its way into the catalog")
        blobs.lose(digest)
    }

    /// The blobs that are referenced by rows of jobs that still need them, without one given job unless it is a
    /// previous build.
    private func needed(but id: JobID) -> Set<Digest> {
        let giving = Set(coordinator?.scheduler.givingJobs ?? []).subtracting([id])
        return Set(
            store.named { job in
                !job.summary.state.isFinal || job.summary.keepsBlobs || giving.contains(job.summary.id)
            })
    }

    private func manifest(_ id: JobID, _ package: PackageIndex) -> SimContent? {
        guard let coordinator, let index = specIndex(of: id) else { return nil }
        let spec = specs[index]
        var (missing, shards): (UInt64, [Digest]) = (0, [])
        for batch in coordinator.scheduler.batches(of: id)
        where batch.state != .split && spec.masks[package].contains(batch.cell) {
            missing += batch.state == .done ? batch.result.failed : batch.tiles
            if batch.state == .done, let digest = batch.digest { shards.append(digest) }
        }
        let share = spec.submission.allowedMissing * Double(spec.masks[package].count(in: spec.zooms))
        return .manifest(
            SimManifest(
                spec: index, package: package, shards: shards,
                allowedMissing: min(missing, UInt64(share.rounded(.down)))))
    }

    /// A background job has ended; if its process died meanwhile, the result is lost.
    mutating func finish(_ report: SimCoordinator.Report, _ owner: Int) {
        guard let current = coordinator, current.incarnation == owner else { return }
        guard current.pausedUntil <= now, current.held == nil else {
            return schedule(.report(report, owner), at: max(current.pausedUntil, now + 500))
        }
        switch report {
        case .manifest(let id, let package, let content):
            // The same one of an ended job may be on its way out: it is written again when it is gone.
            if coordinator?.removing[content.digest] != nil, mutant != .writesWhatIsRemoved {
                return schedule(.report(report, owner), at: now + 200)
            }
            let digest = put(content)
            if dies() { return }
            hand(.manifestWritten(id, package: package, digest))
        case .publish(let id, let package, let merged):
            guard merged.digests.allSatisfy({ blobs[$0] != nil }) || isBlindToFiles(merged) else {
                if let version = standing(id, package, merged) {
                    if dies() { return }
                    hand(.published(id, package: package, version: version, path: "p", unchanged: true))
                    break
                }
                marks.hit(.mergedAgain)
                if blobs[merged.digest] != nil { marks.hit(.fileLost) }
                let trouble = Trouble(cause: "blob-missing", detail: "\(merged.digest)")
                hand(.packageTrouble(id, package: package, trouble, retriable: false))
                break
            }
            let (version, isNew) = publish(id, package, merged)
            if dies() { return }
            if !isNew { marks.hit(.publishedAgain) }
            hand(.published(id, package: package, version: version, path: "p", unchanged: !isNew))
        case .publishTogether(let id, let all):
            var lost: [(package: PackageIndex, merged: MergedPackage)] = []
            for one in all where !one.merged.digests.allSatisfy({ blobs[$0] != nil }) {
                if standing(id, one.package, one.merged) == nil { lost.append(one) }
            }
            guard lost.isEmpty else {
                marks.hit(.mergedAgain)
                for (package, merged) in lost {
                    let trouble = Trouble(cause: "blob-missing", detail: "\(merged.digest)")
                    hand(.packageTrouble(id, package: package, trouble, retriable: false))
                }
                break
            }
            var done: [(package: PackageIndex, version: UInt32, isNew: Bool)] = []
            for (package, merged) in all {
                let isWhole = merged.digests.allSatisfy { blobs[$0] != nil }
                let (version, isNew) =
                    isWhole ? publish(id, package, merged) : (standing(id, package, merged) ?? 0, false)
                done.append((package, version, isNew))
            }
            if dies() { return }
            for one in done {
                if !one.isNew { marks.hit(.publishedAgain) }
                hand(.published(id, package: one.package, version: one.version, path: "p", unchanged: !one.isNew))
            }
            marks.hit(.publishedTogether)
        case .released(let id, let digests):
            remove(digests)
            say("the blobs of job \(id) are gone")
            checkNamed("release of job \(id)")
            if dies() { return }
            marks.hit(.blobsReleased)
            coordinator?.releasing.remove(id)
            store.markReleased(id)
        case .trimmed(let digests):
            remove(digests)
            checkNamed("a trim")
            if dies() { return }
        }
        finishTick()
        wakeCoordinator(by: now + 1)
    }

    private mutating func remove(_ digests: [Digest]) {
        for digest in digests {
            blobs.remove(digest)
            let others = (coordinator?.removing[digest] ?? 1) - 1
            coordinator?.removing[digest] = others > 0 ? others : nil
        }
    }

    /// The version of a package whose newest file has these very bytes.
    private mutating func standing(_ id: JobID, _ package: PackageIndex, _ merged: MergedPackage) -> UInt32? {
        guard let name = coordinator?.scheduler.packages(of: id)[package].id,
            let files = catalog[name], files.last == merged.digest
        else { return nil }
        checkPublished(id, package, merged, stands: true)
        return UInt32(files.count)
    }

    /// Whether a faulty publisher continues although only another format's file is missing.
    private func isBlindToFiles(_ merged: MergedPackage) -> Bool {
        mutant == .publishesWithoutFiles && blobs[merged.digest] != nil
    }

    private mutating func dies() -> Bool {
        guard !isHealed, swarm.crashPoint > 0, faultRandom.below(Int64(20_000)) < swarm.crashPoint else { return false }
        killCoordinator()
        return true
    }

    /// Links the package under its version; the same bytes keep theirs.
    private mutating func publish(_ id: JobID, _ package: PackageIndex, _ merged: MergedPackage) -> (UInt32, Bool) {
        guard let name = coordinator?.scheduler.packages(of: id)[package].id else { return (0, false) }
        checkPublished(id, package, merged)
        if catalog[name]?.last == merged.digest { return (UInt32(catalog[name, default: []].count), false) }
        catalog[name, default: []].append(merged.digest)
        return (UInt32(catalog[name, default: []].count), true)
    }

    /// At an idle start, leftovers of crashes and late commits are removed if they were not written recently.
    mutating func sweep() {
        let named = Set(store.named { _ in true })
        for digest in blobs.order where !named.contains(digest) {
            if let blob = blobs[digest], now - blob.written > 3_600_000 { blobs.remove(digest) }
        }
    }
}
