import Errors
import HeapModule

extension Scheduler {
    /// Why a retry of a job is refused, or `nil`.
    public func refusal(ofRetry id: JobID) -> Refusal? {
        guard let job = places[id].map({ jobs[$0] }) else { return .unknown(id) }
        switch job.summary.state {
        case .failed, .cancelled: return refusal(after: job.summary.after)
        case .done:
            return Refusal("job-ended", "Job \(id) is done; there is nothing to retry.", hint: "submit it again")
        case .fetching, .merging, .publishing:
            let hint = waiting(of: id) == "paused" ? "packhorse resume \(id)" : "packhorse watch \(id)"
            return Refusal("job-runs", "Job \(id) has not ended: \(job.summary.state.rawValue).", hint: hint)
        }
    }

    /// Keeps the data of a failed job for a retry, within the limit of kept jobs, and the shards of a finished one as a
    /// previous build.
    ///
    /// Releases every other ended job.
    mutating func keepOrRelease(_ job: JobPlace, baseline: Baseline?) {
        let id = jobs[job].summary.id
        let hasShards = jobs[job].summary.counts[.done] > 0
        let isRetriable = jobs[job].summary.state == .failed && hasShards && policy.keptFailedJobs > 0
        jobs[job].summary.keepsBlobs = baseline != nil || isRetriable
        storeJob(job)
        if isRetriable { kept.append(id) }
        releaseSources(after: job)
        if let baseline { keepBaseline(baseline, of: job) }
        while kept.count > policy.keptFailedJobs, let oldest = kept.first.flatMap({ places[$0] }) {
            _ = releaseEndedJob(oldest)
        }
    }

    /// Releases the batches and blobs of an ended job.
    ///
    /// Returns whether it had any.
    mutating func releaseEndedJob(_ job: JobPlace) -> Bool {
        guard jobs[job].summary.keepsBlobs else { return false }
        let id = jobs[job].summary.id
        jobs[job].summary.keepsBlobs = false
        kept.removeAll { $0 == id }
        baselines.remove(id)
        storeJob(job)
        releaseUnused(id)
        return true
    }

    /// Resumes an ended job: done batches stay done, and failed work is retried with new attempts.
    ///
    /// - Parameter mergesAll: Whether packages that were published are made again too.
    mutating func reopen(
        _ id: JobID, batches rows: [Batch], isKept: Bool, needs known: PackageNeeds?, only: [BatchIndex]?,
        payload: [UInt8], mergesAll: Bool, now: Tick
    ) {
        guard refusal(ofRetry: id) == nil, let job = places[id], !rows.isEmpty else { return }
        let chosen = only.map(Set.init)
        var batches = Batches(rows)
        var reset: [BatchIndex] = []
        for (index, row) in zip(batches.indices, rows) where row.isReset(byRetry: chosen?.contains(index) ?? true) {
            batches[index] = row.again
            reset.append(index)
        }
        finished.removeAll { $0 == id }
        kept.removeAll { $0 == id }
        // The rows of a new plan do not name the shards that other jobs could use until now. The shards are still
        // removed with the job.
        let shards = keptShards(of: id)
        if !shards.isEmpty {
            let named = Set(batches.flatMap { [$0.digest, $0.partial] }.compactMap(\.self))
            for digest in shards where !named.contains(digest) { store(.orphan(id, digest)) }
        }
        removeShardSource(id)
        jobs[job].summary.state = .fetching
        jobs[job].summary.reason = ""
        jobs[job].refused = []
        jobs[job].summary.keepsBlobs = false
        // Without earlier tiles the source may have any version.
        if batches.allSatisfy({ $0.digest == nil && $0.partial == nil }) { jobs[job].summary.sourceVersion = nil }
        // A retry means that the job should run, even if it was paused when it ended.
        if jobs[job].summary.priority < 0 { jobs[job].summary.priority = -1 - jobs[job].summary.priority }
        jobs[job].batches = batches
        jobs[job].recomputeFromBatches(known)
        jobs[job].recordPause()
        if let tileset = jobs[job].tileset { sharing[tileset, default: []].append(job) }
        for (index, batch) in batches.placed where batch.isAccepted {
            if let token = batch.token { ended[token] = .batch(job: job, index: index) }
        }
        let again = batches.indices.lazy.filter { batches[$0].state == .ready }
        for package in jobs[job].packages.indices
        where mergesAll || jobs[job].packages[package].state == .failed || needs(job, package: package, anyOf: again) {
            rewind(job, package: package, now: now)
        }
        if isKept, !reset.isEmpty { store(.resetBatches(id, reset)) }
        store(
            .reopen(
                StoredJob(
                    summary: jobs[job].summary, batches: batches.elements, packages: jobs[job].packages.elements,
                    payload: payload), keepsBatches: isKept))
        queue(job)
        updateFollowers(now: now)
        advance(job, now: now)
    }

    /// Makes all packages of an unfinished job again, also failed and published ones; its batches go on.
    ///
    /// - Parameter payload: Its new submission.
    mutating func remerge(_ id: JobID, payload: [UInt8], now: Tick) {
        guard let job = places[id], !jobs[job].summary.state.isFinal else { return }
        for package in jobs[job].packages.indices where jobs[job].packages[package].state != .waiting {
            rewind(job, package: package, now: now)
        }
        // Packages whose batches have ended go on at once.
        let batches = jobs[job].batches
        jobs[job].needs.recount { batches[$0].state.isSettled }
        jobs[job].summary.state = .fetching
        store(
            .reopen(
                StoredJob(
                    summary: jobs[job].summary, batches: [], packages: jobs[job].packages.elements, payload: payload),
                keepsBatches: true))
        queue(job)
        advance(job, now: now)
    }

    /// Whether a package contains tiles of one of these batches.
    func needs(_ job: JobPlace, package: PackageIndex, anyOf batches: some Sequence<BatchIndex>) -> Bool {
        batches.contains { jobs[job].needs.served(by: $0).contains(package) }
    }

    /// Makes a package wait for its tiles again, whatever its state.
    ///
    /// Its earlier results are removed with the job.
    mutating func rewind(_ job: JobPlace, package: PackageIndex, now: Tick) {
        let row = jobs[job].packages[package]
        if row.state == .leased, let token = row.token { cancelLease(token, now: now) }
        if let token = row.token { ended[token] = nil }
        if let manifest = row.manifest, made[manifest] == .package(job: job, index: package) { made[manifest] = nil }
        for digest in [row.manifest].compactMap(\.self) + (row.merged?.digests ?? []) {
            store(.orphan(jobs[job].summary.id, digest))
        }
        movePackage(job, package: package, by: .rewound)
        outdateManifest(job, package: package)
    }
}

extension Batch {
    /// Whether the batch or some of its tiles failed, and the failure was not dropped by an operator.
    var isFailedWork: Bool {
        (state == .dead || state == .done && result.failed > 0) && trouble?.cause != FailureCause.dropped.rawValue
    }

    /// Marks failed work as dropped permanently.
    mutating func drop() {
        let before = trouble.map { "\($0.cause): \($0.detail)" } ?? "tiles failed"
        trouble = Trouble(cause: FailureCause.dropped.rawValue, detail: before)
    }

    /// Whether the batch of an ended job changes when the job resumes; `isWanted` = failed work is retried.
    ///
    /// It becomes ``again`` then.
    public func isReset(byRetry isWanted: Bool) -> Bool {
        switch state {
        case .ready, .leased, .backoff: self != again
        case .dead, .done: isFailedWork && isWanted
        case .split: false
        }
    }

    /// Whether the batch was never tried and is as it was planned.
    public var isAsPlanned: Bool {
        state == .ready && token == nil && attempts == 0 && losses == 0 && owner == 0 && digest == nil
            && partial == nil && trouble == nil && result == FetchCounts()
    }

    /// The batch before its first attempt.
    ///
    /// Tiles that it already has stay available as a source.
    public var again: Batch {
        var batch = self
        batch.state = .ready
        batch.attempts = 0
        batch.losses = 0
        batch.owner = 0
        batch.partial = digest ?? partial
        batch.digest = nil
        batch.result = FetchCounts()
        return batch
    }
}
