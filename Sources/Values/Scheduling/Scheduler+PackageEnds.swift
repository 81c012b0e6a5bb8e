internal import Digests

extension Scheduler {
    /// Starts the packages whose last batch has ended since the last call.
    mutating func startMerges(_ job: JobPlace) {
        for package in jobs[job].needs.takeClosed() where jobs[job].packages[package].state == .waiting {
            movePackage(job, package: package, by: .batchesEnded)
            storePackage(job, package: package)
            startNextStep(job, package: package)
        }
    }

    /// Ends a job whose batches are all in a final state when each of its packages is published or has failed.
    mutating func advancePackages(_ job: JobPlace, now: Tick) {
        var (failed, merging) = (false, false)
        for package in jobs[job].packages {
            switch package.state {
            case .published, .unchanged: break
            case .failed: failed = true
            case .publishing: merging = merging || jobs[job].summary.state == .publishing
            case .waiting, .manifest, .ready, .leased, .backoff: return
            }
        }
        if jobs[job].packages.contains(where: { $0.state == .publishing }), !isHeldBackForGood(job) {
            guard jobs[job].summary.state == .merging else { return }
            jobs[job].summary.state = .publishing
            storeJob(job)
        } else {
            end(job, as: failed ? .failed : .done, reason: failed ? reasonForPackages(job) : "", now: now)
        }
    }

    /// Names the failed packages, the first ones with their causes.
    private func reasonForPackages(_ job: JobPlace) -> String {
        let failed = jobs[job].packages.filter { $0.state == .failed }
        func why(_ package: Package) -> String {
            package.trouble.map { "\($0.cause): \($0.detail)" } ?? "unknown cause"
        }
        let others = jobs[job].packages.count - failed.count
        let rest: String
        if isHeldBackForGood(job), jobs[job].packages.contains(where: { $0.state == .publishing }) {
            let id = jobs[job].summary.id
            rest =
                "; nothing is published, because all packages are published together: packhorse retry \(id), or packhorse retry \(id) --apart to publish each package that is ready"
        } else {
            rest = others == 0 ? "" : others == 1 ? "; the other is published" : "; the other \(others) are published"
        }
        guard failed.count > 1 else {
            return failed.first.map { "package '\($0.id)' failed: \(why($0))\(rest)" } ?? ""
        }
        let named = failed.prefix(5).map { "'\($0.id)': \(why($0))" }.joined(separator: "; ")
        let more =
            failed.count > 5 ? "; and " + failed[5...].prefix(50).map { "'\($0.id)'" }.joined(separator: ", ") : ""
        let dots = failed.count > 55 ? " …" : ""
        return "\(failed.count) of \(jobs[job].packages.count) packages failed: \(named)\(more)\(dots)\(rest)"
    }

    /// A merger could not read a shard.
    ///
    /// The batches that produced it are fetched again, and the packages that need them wait.
    mutating func refetch(
        _ job: JobPlace, for reporter: PackageIndex, lost shards: Set<Digest>, cause: String, now: Tick
    ) {
        let lost = jobs[job].batches.indices.filter { index in
            jobs[job].batches[index].state == .done
                && jobs[job].batches[index].digest.map(shards.contains) ?? false
        }
        // All of them are collected first, so that ending one never meets another that still counts as done.
        for index in lost {
            jobs[job].summary.counts.unbook(jobs[job].batches[index].result)
            if let token = jobs[job].batches[index].token { scheduleForgetting(token, job: job) }
            jobs[job].batches[index].digest = nil
            jobs[job].batches[index].result = FetchCounts()
            jobs[job].move(index, to: .backoff)
        }
        if !lost.isEmpty, jobs[job].summary.state != .fetching {
            jobs[job].summary.state = .fetching
            storeJob(job)
        }
        for package in jobs[job].packages.indices { holdBack(job, package: package, isReporter: package == reporter) }
        let reason = Trouble(cause: cause, detail: "a merger could not read the shard")
        for index in lost {
            retry(.batch(job: job, index: index), trouble: reason, isLoss: false, isDead: false, now: now)
        }
    }

    /// Makes a package that is not merged yet wait again for reopened batches.
    ///
    /// A package that another worker is merging continues, and fails by itself if a shard is missing. A package whose
    /// manifest is being written must not use that manifest. The package that reported the loss gets a new manifest in
    /// any case, with its next attempt.
    mutating func holdBack(_ job: JobPlace, package: PackageIndex, isReporter: Bool = false) {
        let row = jobs[job].packages[package]
        let isOpen = jobs[job].needs.isOpen(package)
        guard isOpen || isReporter, row.merged == nil, row.state != .waiting, row.state != .failed,
            row.token.flatMap({ leases[$0] }) == nil
        else { return }
        jobs[job].packages[package].manifest = nil
        outdateManifest(job, package: package)
        guard isOpen else { return }
        movePackage(job, package: package, by: .batchesReopened)
        storePackage(job, package: package)
    }
}
