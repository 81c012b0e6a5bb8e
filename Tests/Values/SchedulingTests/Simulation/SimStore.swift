import Digests
import Scheduling

/// The state file: transactions are whole or not there, the epoch is durable before anything else, the disk may be full.
struct SimStore {
    private(set) var state = StoredState()
    private(set) var epoch: UInt32 = 0
    private(set) var lastJob: JobID = 0
    /// Ended jobs whose blobs are gone.
    private(set) var released: Set<JobID> = []
    /// Orphans that went with an earlier life of a job that was retried.
    private var removed: [JobID: Set<Digest>] = [:]
    /// When jobs were submitted and ended.
    private(set) var created: [JobID: Int64] = [:]
    private(set) var ended: [JobID: Int64] = [:]
    /// Every write since the beginning, in order.
    private(set) var log: [StoreWrite] = []
    var fullUntil: Int64 = 0

    mutating func raiseEpoch() { epoch += 1 }

    /// Applies one write of a transaction.
    mutating func apply(_ write: StoreWrite, now: Int64) {
        state.apply(write)
        switch write {
        case .insertJob(let job):
            lastJob = max(lastJob, job.summary.id)
            created[job.summary.id] = now
        case .reopen(let job, _):
            released.remove(job.summary.id)
            ended[job.summary.id] = nil
        case .job(let summary) where summary.state.isFinal: ended[summary.id] = ended[summary.id] ?? now
        default: break
        }
        log.append(write)
    }

    mutating func markReleased(_ job: JobID) {
        released.insert(job)
        removed[job, default: []].formUnion(state.orphans[job] ?? [])
    }

    /// What a coordinator starts from: ended jobs come without their batches, but for those whose shards unfinished ones may use.
    func inheritance(_ spec: (StoredJob) -> SimSpec?) -> [StoredJob] {
        let living = state.jobs.filter { !$0.summary.state.isFinal }
        return state.jobs.map { stored in
            var job = stored
            let tileset = spec(stored)?.tileset
            job.tileset = tileset
            job.formats = spec(stored)?.submission.formats ?? []
            job.labels = spec(stored)?.submission.labels ?? []
            job.publishesTogether = spec(stored)?.submission.publishesTogether ?? false
            guard job.summary.state.isFinal else {
                job.needs = spec(stored)?.needs(of: job.batches)
                return job
            }
            let isWhole = !released.contains(job.summary.id) && !job.summary.keepsBlobs && !job.summary.wasPaused
            let end = ended[job.summary.id] ?? 0
            job.heldFor =
                isWhole
                ? living.filter { spec($0)?.tileset == tileset && created[$0.summary.id] ?? 0 <= end }.map(\.summary.id)
                : []
            let isBaseline = job.summary.keepsBlobs && job.summary.state == .done
            if job.heldFor.isEmpty && !isBaseline { job.batches = [] }
            return job
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

    /// Every blob a row of these jobs names; of a baseline only its shards.
    func named(by isMeant: (StoredJob) -> Bool) -> [Digest] {
        var all: [Digest] = []
        for job in state.jobs where isMeant(job) && !released.contains(job.summary.id) {
            all += job.batches.compactMap(\.digest) + job.batches.compactMap(\.partial)
            if job.summary.state != .done || !job.summary.keepsBlobs { all += others(of: job) }
        }
        return all
    }

    /// The blobs that a job references in addition to its shards.
    func others(of job: StoredJob) -> [Digest] {
        let orphans = (state.orphans[job.summary.id] ?? []).subtracting(removed[job.summary.id] ?? [])
        return job.packages.compactMap(\.manifest) + job.packages.flatMap { $0.merged?.digests ?? [] }
            + orphans.sorted { $0.description < $1.description }
    }
}
