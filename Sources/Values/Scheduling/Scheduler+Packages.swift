import Digests
import Errors

extension Scheduler {
    mutating func manifestWritten(
        _ id: JobID, package: PackageIndex, manifest digest: Digest, decides: Bool, now: Tick
    ) {
        guard endManifest(id, package: package, wrote: digest), let job = places[id] else { return }
        let isFirst = jobs[job].packages[package].attempts == 0 && jobs[job].packages[package].losses == 0
        if isFirst, decides, let merged = merged(from: digest) {
            // Nothing is new: the publisher finds exactly these bytes in the catalog, or reports that the package must
            // be merged after all.
            movePackage(job, package: package, by: .foundInCatalog(merged, manifest: digest))
        } else {
            movePackage(job, package: package, by: .manifestStored(digest))
        }
        storePackage(job, package: package)
        startNextStep(job, package: package)
        if jobs[job].packages[package].state == .publishing { advance(job, now: now) }
    }

    /// A merged package is durable as a blob.
    ///
    /// From now on only the coordinator works on it, until it is in the catalog.
    mutating func commitMerge(
        _ id: SessionID, token: LeaseToken, job: JobPlace, package index: PackageIndex, merged: MergedPackage, now: Tick
    ) {
        guard merged.tiles <= jobs[job].packages[index].tiles else {
            let detail = "the package has \(merged.tiles) tiles, its mask only \(jobs[job].packages[index].tiles)"
            refuse(id, token: token, trouble: Trouble(cause: "bad-counts", detail: detail), now: now)
            return
        }
        let formats = jobs[job].formats(of: index)
        guard merged.hasFormats(formats) else {
            let made = merged.files.map(\.format).joined(separator: ", ")
            let detail =
                "the commit names the formats '\(made)'; the package needs '"
                + formats.joined(separator: ", ") + "'"
            refuse(id, token: token, trouble: Trouble(cause: FailureCause.badFiles.rawValue, detail: detail), now: now)
            return
        }
        guard merged.tiles > 0 else {
            _ = close(token, now: now)
            jobs[job].packages[index].trouble = Trouble(
                cause: FailureCause.noTiles,
                detail: "the origin has no tile in its area; check the area, the tileset's url and the zooms")
            send(.ack(token, merged.digest), to: id)
            for digest in merged.digests { store(.orphan(jobs[job].summary.id, digest)) }
            failPackage(job, package: index, now: now)
            return
        }
        _ = close(token, now: now)
        movePackage(job, package: index, by: .merged(merged))
        ended[token] = .package(job: job, index: index)
        storePackage(job, package: index)
        send(.ack(token, merged.digest), to: id)
        startNextStep(job, package: index)
        advance(job, now: now)
    }

    mutating func published(
        _ id: JobID, package: PackageIndex, version: UInt32, path: String, unchanged: Bool, now: Tick
    ) {
        guard let job = places[id], jobs[job].packages.indices.contains(package) else { return }
        let row = jobs[job].packages[package]
        // The job was cancelled, or failed because of another package, while this one was being published. The report
        // must not deny that it is published.
        let isLate = jobs[job].summary.state.isFinal && row.state == .failed && row.merged != nil
        guard row.state == .publishing || isLate else {
            // The package was ordered again while this one was being published: it is recorded, and will be replaced.
            guard !jobs[job].summary.state.isFinal, row.merged == nil, row.state != .failed else { return }
            jobs[job].packages[package].version = version
            jobs[job].packages[package].path = path
            storePackage(job, package: package)
            return
        }
        movePackage(job, package: package, by: .published(version: version, path: path, isUnchanged: unchanged))
        recordMadePackage(job, package: package)
        storePackage(job, package: package)
        advance(job, now: now)
    }

    /// A step of the coordinator itself failed.
    ///
    /// A retriable failure (a full disk) is retried every few seconds without limit, and is shown. Any other failure
    /// ends the job.
    mutating func packageTrouble(_ id: JobID, package: PackageIndex, trouble: Trouble, retriable: Bool, now: Tick) {
        guard let job = living(id, package: package) else { return }
        let state = jobs[job].packages[package].state
        guard state == .manifest || state == .publishing else { return }
        jobs[job].packages[package].trouble = trouble
        if state == .publishing, trouble.cause == FailureCause.lostPackage {
            mergeAgain(job, package: package, now: now)
            return
        }
        guard retriable else {
            failPackage(job, package: package, now: now)
            return
        }
        jobs[job].packages[package].attempts = min(jobs[job].packages[package].attempts, 200) + 1
        storePackage(job, package: package)
        let wait = min(backoff(job, package: package), SchedulerPolicy.ownBackoffCap)
        setAlarm(.package(job: job, index: package), at: now + wait)
    }

    /// A file of the merged package is missing from the blob store.
    ///
    /// This counts as a failed attempt, and the next merge makes all files again.
    ///
    /// They have the same bytes unless a style has changed meanwhile, so the remaining old ones are removed with the
    /// job.
    private mutating func mergeAgain(_ job: JobPlace, package: PackageIndex, now: Tick) {
        guard let trouble = jobs[job].packages[package].trouble else { return }
        for file in jobs[job].packages[package].merged?.files ?? [] {
            store(.orphan(jobs[job].summary.id, file.digest))
        }
        if let token = jobs[job].packages[package].token { ended[token] = nil }
        jobs[job].packages[package].merged = nil
        if jobs[job].summary.state == .publishing {
            jobs[job].summary.state = .merging
            storeJob(job)
        }
        retry(.package(job: job, index: package), trouble: trouble, isLoss: false, isDead: false, now: now)
    }
}
