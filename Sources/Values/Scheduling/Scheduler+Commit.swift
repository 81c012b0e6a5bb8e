import Digests
import Errors

extension Scheduler {
    /// Accepts a result only if its lease is live under exactly this token.
    ///
    /// Repeats the answer to an accepted result, and refuses all others.
    mutating func commit(_ id: SessionID, token: LeaseToken, result: CommitResult, now: Tick) {
        guard sessions[id] != nil else {
            send(.unknownSession, to: id)
            return
        }
        sessions[id]?.lastHeard = now
        if let lease = leases[token], lease.session == id {
            switch (lease.work, result) {
            case (.batch(let job, let index), .fetch(let digest, let counts, let failures)):
                commitFetch(
                    id, token: token, job: job, batch: index, digest: digest, counts: counts, failures: failures,
                    now: now)
            case (.package(let job, let index), .merge(let merged)):
                commitMerge(id, token: token, job: job, package: index, merged: merged, now: now)
            case (.batch(let job, let index), .plan(let plan)):
                commitPlan(id, token: token, job: job, batch: index, plan: plan, now: now)
            case (.batch, .merge), (.package, .fetch), (.package, .plan):
                refuse(
                    id, token: token,
                    trouble: Trouble(cause: "bad-commit", detail: "the result is not of the lease's kind"), now: now)
            }
        } else if let work = ended[token], isAccepted(token, work: work), acceptedDigest(work) == result.digest {
            send(.ack(token, result.digest), to: id)
        } else {
            if let work = ended[token], jobs.contains(work.job), result.isOfBatch,
                acceptedDigest(work) != result.digest
            {
                store(.orphan(jobs[work.job].summary.id, result.digest))
            }
            send(.stale(token, reason: reasonForStale(token, result: result)), to: id)
        }
    }

    private func reasonForStale(_ token: LeaseToken, result: CommitResult) -> String {
        if leases[token] != nil { return "not-your-lease" }
        guard case .batch(let job, let index)? = ended[token], jobs.contains(job),
            jobs[job].batches.indices.contains(index),
            jobs[job].batches[index].isAccepted, jobs[job].batches[index].token != token
        else { return "lease-ended" }
        // Another attempt has already committed this batch. Different bytes mean that the origin changed between them.
        return jobs[job].batches[index].digest == result.digest ? "same-result" : "other-result"
    }

    private mutating func commitFetch(
        _ id: SessionID, token: LeaseToken, job: JobPlace, batch index: BatchIndex, digest: Digest,
        counts: FetchCounts,
        failures: [FailedTile], now: Tick
    ) {
        let batch = jobs[job].batches[index]
        guard counts.fetched == batch.tiles, UInt64(failures.count) <= counts.failed, batch.role != .plan else {
            let found =
                "\(counts.stored) stored, \(counts.empty) empty, \(counts.failed) failed, \(failures.count) named"
            refuse(
                id, token: token,
                trouble: Trouble(cause: "bad-counts", detail: "\(found); the batch has \(batch.tiles) tiles"),
                now: now)
            return
        }
        guard admits(counts.sourceVersion, to: job) else {
            store(.orphan(jobs[job].summary.id, digest))
            send(.stale(token, reason: FailureCause.sourceChanged.rawValue), to: id)
            return endForSource(job, by: id, found: counts.sourceVersion ?? "", now: now)
        }
        if counts.failed > 0, let trouble = reasonForAnother(batch, counts: counts, failures: failures) {
            // Also stored as an orphan, so that it is removed with the job whatever happens to the batch.
            store(.orphan(jobs[job].summary.id, digest))
            jobs[job].batches[index].partial = digest
            // The end of a speculative lease writes no row.
            if leases[token]?.isSpeculative == true { storeBatch(job, batch: index) }
            refuse(id, token: token, trouble: trouble, now: now)
            return
        }
        if let lease = close(token, now: now), token.epoch == epoch { jobs[job].recordDuration(now - lease.granted) }
        endCompetingLeases(job, batch: index, of: token, now: now)
        jobs[job].move(index, to: .done)
        jobs[job].batches[index].token = token
        if let partial = batch.partial, partial != digest { store(.orphan(jobs[job].summary.id, partial)) }
        jobs[job].batches[index].digest = digest
        jobs[job].batches[index].partial = nil
        jobs[job].batches[index].result = counts
        jobs[job].batches[index].result.sourceVersion = nil
        jobs[job].batches[index].result.blockList = ""
        jobs[job].batches[index].result.receivedAgain = min(counts.receivedAgain, counts.received)
        jobs[job].batches[index].result.reused = min(counts.reused, counts.stored + counts.empty)
        jobs[job].batches[index].result.notModified = min(counts.notModified, counts.stored)
        if counts.failed == 0 { jobs[job].batches[index].trouble = nil }
        jobs[job].summary.counts.book(jobs[job].batches[index].result)
        noteBlockList(counts.blockList, of: job)
        ended[token] = .batch(job: job, index: index)
        sessions[id]?.tiles &+= counts.stored &+ counts.empty
        sessions[id]?.bytes &+= counts.bodyBytes
        storeBatch(job, batch: index)
        list(failures, of: job, batch: index)
        send(.ack(token, digest), to: id)
        advance(job, now: now)
    }

    /// Why another attempt at the batch is useful, or `nil` when it is accepted with its failed tiles.
    ///
    /// Only the first few hundred failures are named; the others are assumed to be similar. A worker waits by itself while the origin
    /// throttles all of its requests, so it reports a tile as throttled only if that tile alone was.
    private func reasonForAnother(
        _ batch: Batch, counts: FetchCounts, failures: [FailedTile]
    ) -> Trouble? {
        let first = failures.first.map { " (\($0.tile) \($0.trouble.cause): \($0.trouble.detail))" } ?? ""
        let detail = "\(counts.failed) \(counts.failed == 1 ? "tile" : "tiles") failed\(first)"
        guard Int(batch.attempts) + 1 < Int(SchedulerPolicy.attemptsForTiles) else { return nil }
        guard failures.isEmpty || failures.contains(where: { FailureCause.isRetriable($0.trouble.cause) }) else {
            return nil
        }
        return Trouble(cause: FailureCause.tilesFailed.rawValue, detail: detail)
    }

    /// Adds failed tiles to the job's report, up to its limit.
    private mutating func list(_ failures: [FailedTile], of job: JobPlace, batch index: BatchIndex) {
        guard let first = failures.first else { return }
        recordFirstFailure("\(first.tile) \(first.trouble.cause): \(first.trouble.detail)", of: job)
        let entriesLeft = max(SchedulerPolicy.listedFailures - jobs[job].listed, 0)
        guard entriesLeft > 0 else { return }
        let listed = Array(failures.prefix(entriesLeft))
        jobs[job].listed += listed.count
        store(.failures(jobs[job].summary.id, batch: index, listed))
    }

    /// Whether the work was accepted under this token.
    func isAccepted(_ token: LeaseToken, work: WorkRef) -> Bool {
        switch work {
        case .batch(let job, let index):
            guard jobs.contains(job), jobs[job].batches.indices.contains(index) else { return false }
            return jobs[job].batches[index].isAccepted && jobs[job].batches[index].token == token
        case .package(let job, let index):
            guard jobs.contains(job), jobs[job].packages.indices.contains(index) else { return false }
            return jobs[job].packages[index].merged != nil && jobs[job].packages[index].token == token
        }
    }

    private func acceptedDigest(_ work: WorkRef) -> Digest? {
        guard jobs.contains(work.job) else { return nil }
        switch work {
        case .batch(let job, let index):
            return jobs[job].batches.indices.contains(index) ? jobs[job].batches[index].digest : nil
        case .package(let job, let index):
            return jobs[job].packages.indices.contains(index) ? jobs[job].packages[index].merged?.digest : nil
        }
    }
}

extension Batch {
    /// Whether a result was accepted: a shard, or a plan.
    var isAccepted: Bool { state == .done || state == .split && digest != nil }
}
