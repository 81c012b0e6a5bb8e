import Scheduling

/// The state file: transactions are whole or not there, the epoch is durable before anything else, the disk may be full.
struct SimStore {
    private(set) var state = StoredState()
    private(set) var epoch: UInt32 = 0
    private(set) var lastJob: JobID = 0
    /// Ended jobs whose blobs are gone.
    private(set) var released: Set<JobID> = []
    /// Every write since the beginning, in order.
    private(set) var log: [StoreWrite] = []
    var fullUntil: Int64 = 0

    mutating func raiseEpoch() { epoch += 1 }

    /// Applies one write of a transaction.
    mutating func apply(_ write: StoreWrite) {
        state.apply(write)
        if case .insertJob(let job) = write { lastJob = max(lastJob, job.summary.id) }
        if case .reopen(let job) = write { released.remove(job.summary.id) }
        log.append(write)
    }

    mutating func markReleased(_ job: JobID) { released.insert(job) }

    /// What a coordinator starts from: ended jobs come without their batches.
    var inheritance: [StoredJob] {
        state.jobs.map { job in
            guard job.summary.state.isFinal else { return job }
            return StoredJob(summary: job.summary, batches: [], packages: job.packages, payload: job.payload)
        }
    }

    func job(_ id: JobID) -> StoredJob? {
        let jobs = state.jobs
        var (low, high) = (0, jobs.count)
        while low < high {
            let middle = (low + high) / 2
            if jobs[middle].summary.id < id { low = middle + 1 } else { high = middle }
        }
        return low < jobs.count && jobs[low].summary.id == id ? jobs[low] : nil
    }

    /// Every blob a row of these jobs names.
    func named(by isMeant: (StoredJob) -> Bool) -> [ContentDigest] {
        var all: [ContentDigest] = []
        for job in state.jobs where isMeant(job) && !released.contains(job.summary.id) {
            all += job.batches.compactMap(\.digest) + job.batches.compactMap(\.partial)
            all += job.packages.compactMap(\.manifest) + job.packages.compactMap { $0.merged?.digest }
            all += (state.orphans[job.summary.id] ?? []).sorted { $0.description < $1.description }
        }
        return all
    }
}
