import Digests
import Scheduling

/// Which ended jobs still have blobs, and what must be tried again.
struct BlobReleases {
    /// Ended jobs whose blobs still exist.
    private var waiting: [JobID] = []
    /// Ended jobs whose blobs are being removed.
    private var running: Set<JobID> = []
    /// Ended jobs whose removal is retried when none of these blobs is claimed any more.
    private var postponed: [JobID: Set<Digest>] = [:]
    /// The same for jobs that keep their shards.
    private var postponedTrims: [JobID: Set<Digest>] = [:]

    /// The backup of the state after which blobs of jobs that end now may be removed; 0 without backups.
    var ticket: UInt64 = 0
    /// The newest backup that was made.
    var covered: UInt64 = 0
    /// Whether no backups are made, so that no removal waits for one.
    var isCovering = true
    /// The tickets of waiting jobs.
    private var tickets: [JobID: UInt64] = [:]

    /// Records that a job has ended and nothing needs its blobs.
    mutating func add(_ job: JobID) {
        waiting.append(job)
        tickets[job] = ticket
    }

    /// Whether a removal waits for a backup.
    var isWaiting: Bool { waiting.contains { !isCovered($0) } }

    private func isCovered(_ job: JobID) -> Bool { isCovering || tickets[job, default: 0] <= covered }

    /// Records that a job needs its blobs again.
    mutating func withdraw(_ job: JobID) {
        waiting.removeAll { $0 == job }
        tickets[job] = nil
    }

    /// Whether blobs of the job wait for their removal or are being removed.
    func contains(_ job: JobID) -> Bool { waiting.contains(job) || running.contains(job) }

    /// The waiting jobs that are not unfinished and whose end is in a backup; their removal starts now.
    mutating func start(isLiving: (JobID) -> Bool) -> [JobID] {
        let ready = waiting.filter { !isLiving($0) && isCovered($0) }
        waiting.removeAll(where: ready.contains)
        running.formUnion(ready)
        return ready
    }

    /// Records that the removal of a job's blobs has ended.
    mutating func end(_ job: JobID) {
        running.remove(job)
        if !waiting.contains(job) { tickets[job] = nil }
    }

    /// Records that blobs of a job were left because of a claim.
    mutating func postpone(_ job: JobID, _ left: Set<Digest>) {
        running.remove(job)
        waiting.append(job)
        postponed[job] = left
    }

    /// The same for a job that keeps its shards.
    mutating func postponeTrim(of job: JobID, _ left: Set<Digest>) { postponedTrims[job] = left }

    /// What can be tried again because no blob is claimed any more: the removal of some job, and these trims.
    mutating func retry(isClaimed: (Set<Digest>) -> Bool) -> (releases: Bool, trims: [JobID]) {
        guard !postponed.isEmpty || !postponedTrims.isEmpty else { return (false, []) }
        let jobs = postponed.filter { !isClaimed($0.value) }.keys
        for job in jobs { postponed[job] = nil }
        let trims = postponedTrims.filter { !isClaimed($0.value) }.keys.sorted()
        for job in trims { postponedTrims[job] = nil }
        return (!jobs.isEmpty, trims)
    }
}
