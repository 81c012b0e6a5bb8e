extension Scheduler {
    /// The indices of failed batches of an unfinished job; empty for an ended job, whose rows are only in the store.
    public func failedBatches(of id: JobID) -> [BatchIndex] {
        guard let job = places[id] else { return [] }
        return jobs[job].batches.indices.filter { jobs[job].batches[$0].isFailedWork }
    }

    /// Retries failed work of an unfinished job.
    ///
    /// Packages that need it wait for it, or are made again.
    mutating func requeue(_ id: JobID, batches wanted: [BatchIndex]?, now: Tick) {
        guard let job = places[id], !jobs[job].summary.state.isFinal else { return }
        let chosen = chosenFailedBatches(job, among: wanted)
        guard !chosen.isEmpty else { return }
        for index in chosen {
            let batch = jobs[job].batches[index]
            if batch.state == .dead {
                jobs[job].summary.counts.failed -= batch.tiles
            } else {
                jobs[job].summary.counts.unbook(batch.result)
                if let token = batch.token { scheduleForgetting(token, job: job) }
            }
            jobs[job].move(index, to: .ready)
            jobs[job].batches[index] = batch.again
            storeBatch(job, batch: index)
            store(.failures(id, batch: index, []))
        }
        for package in jobs[job].packages.indices where needs(job, package: package, anyOf: chosen) {
            guard jobs[job].packages[package].state != .waiting else { continue }
            rewind(job, package: package, now: now)
            storePackage(job, package: package)
        }
        jobs[job].summary.state = .fetching
        storeJob(job)
        queue(job)
    }

    /// Drops failed work: it is not retried and no longer listed.
    ///
    /// Its tiles stay reported as failed.
    ///
    /// A failed job without other work to retry releases its blobs.
    mutating func drop(_ id: JobID, batches wanted: [BatchIndex]?, now: Tick) {
        guard let job = places[id] else { return }
        guard !jobs[job].summary.state.isFinal else {
            store(.dropped(id, batches: wanted))
            if wanted == nil, jobs[job].summary.state == .failed { _ = releaseEndedJob(job) }
            return
        }
        for index in chosenFailedBatches(job, among: wanted) {
            jobs[job].batches[index].drop()
            storeBatch(job, batch: index)
        }
    }

    private func chosenFailedBatches(_ job: JobPlace, among wanted: [BatchIndex]?) -> [BatchIndex] {
        let all = jobs[job].batches.indices
        return (wanted.map { Set($0).sorted() } ?? Array(all)).filter {
            all.contains($0) && jobs[job].batches[$0].isFailedWork
        }
    }
}
