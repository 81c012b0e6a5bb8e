public import Digests

/// The meaning of ``StoreWrite`` in memory: the content that a store must have after the same writes.
///
/// Used to replay the event log, and as the model in tests and simulation.
public struct StoredState: Hashable, Sendable {
    /// Jobs by ascending id.
    public private(set) var jobs: [StoredJob] = []
    /// Listed failures per job and batch.
    public private(set) var failures: [JobID: [BatchIndex: [FailedTile]]] = [:]
    /// Orphans per job.
    public private(set) var orphans: [JobID: Set<Digest>] = [:]
    /// Schedules by id.
    public private(set) var schedules: [String: Schedule] = [:]
    /// Firings of schedules as they began, oldest first; the results of their jobs are those of the jobs.
    public private(set) var firings: [PastFiring] = []
    /// Steps of jobs that have begun, by job and number.
    public private(set) var steps: [JobID: [Int: JobStep]] = [:]
    /// Operators' limits by origin.
    public private(set) var operatorLimits: OperatorLimits = [:]

    /// An empty state.
    public init() {}

    /// Applies one write.
    ///
    /// A write for something unknown changes nothing.
    public mutating func apply(_ write: StoreWrite) {
        switch write {
        case .insertJob(let job): jobs.append(job)
        case .job(let summary): if let place = place(summary.id) { jobs[place].summary = summary }
        case .forget(let id):
            if let place = place(id) { jobs.remove(at: place) }
            failures[id] = nil
            orphans[id] = nil
            steps[id] = nil
        case .batch(let id, let index, let batch):
            if let place = place(id), jobs[place].batches.indices.contains(index.number) {
                jobs[place].batches[index.number] = batch
            }
        case .addBatches(let id, let first, let batches):
            if let place = place(id), jobs[place].batches.count == first.number { jobs[place].batches += batches }
        case .package(let id, let index, let package):
            if let place = place(id), jobs[place].packages.indices.contains(index.number) {
                jobs[place].packages[index.number] = package
            }
        case .reopen(let job, let keepsBatches):
            guard let place = place(job.summary.id) else { return }
            let before = jobs[place]
            jobs[place] = job
            steps[job.summary.id] = nil
            if job.payload.isEmpty { jobs[place].payload = before.payload }
            if keepsBatches { jobs[place].batches = before.batches }
            let batches = jobs[place].batches
            failures[job.summary.id] = failures[job.summary.id]?.filter { index, _ in
                batches.indices.contains(index.number) && [.done, .dead].contains(batches[index.number].state)
            }
        case .resetBatches(let id, let batches):
            guard let place = place(id) else { return }
            for index in batches where jobs[place].batches.indices.contains(index.number) {
                jobs[place].batches[index.number] = jobs[place].batches[index.number].again
                failures[id]?[index] = nil
            }
        case .dropped(let id, let batches):
            guard let place = place(id) else { return }
            for index in batches?.map(\.number) ?? Array(jobs[place].batches.indices)
            where jobs[place].batches.indices.contains(index) && jobs[place].batches[index].isFailedWork {
                jobs[place].batches[index].drop()
            }
        case .schedule(let schedule, _): schedules[schedule.id] = schedule
        case .dropSchedule(let id):
            schedules[id] = nil
            firings.removeAll { $0.schedule == id }
        case .firing(let firing):
            firings.removeAll { $0.schedule == firing.schedule && $0.number + PastFiring.kept <= firing.number }
            firings.append(firing)
        case .step(let step): steps[step.job, default: [:]][step.number] = step
        case .originLimit(let origin, let limit): operatorLimits[origin] = limit
        case .originBlocked: break
        case .failures(let id, let batch, let tiles): failures[id, default: [:]][batch] = tiles
        case .orphan(let id, let digest): orphans[id, default: []].insert(digest)
        }
    }

    private func place(_ id: JobID) -> Int? {
        var (low, high) = (0, jobs.count)
        while low < high {
            let middle = (low + high) / 2
            if jobs[middle].summary.id < id { low = middle + 1 } else { high = middle }
        }
        return low < jobs.count && jobs[low].summary.id == id ? low : nil
    }
}
