import Catalog
import Scheduling
import Wire

/// The descriptions and times of the jobs in memory.
struct JobRegistry {
    private var specs: [JobID: JobSpec] = [:]
    private var allTimes: [JobID: JobTimes] = [:]

    init() {}

    /// The jobs that a coordinator starts with.
    init(specs: [JobID: JobSpec], times: [JobID: JobTimes]) {
        self.specs = specs
        allTimes = times
    }

    func spec(of job: JobID) -> JobSpec? { specs[job] }

    /// The steps that a job's submission has.
    func steps(of job: JobID) -> [String] { specs[job]?.publish.then.map(\.description) ?? [] }

    func times(of job: JobID) -> JobTimes? { allTimes[job] }

    /// The descriptions of these jobs, ordered by job.
    func specs(where isWanted: (JobID) -> Bool) -> [(JobID, JobSpec)] {
        specs.filter { isWanted($0.key) }.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
    }

    /// Stores the description of a job.
    mutating func setSpec(_ spec: JobSpec, of job: JobID) { specs[job] = spec }

    /// Follows a change of the state.
    ///
    /// - Parameter wall: Milliseconds since 1970.
    mutating func record(_ write: StoreWrite, wall: Int64) {
        if let job = write.leasedJob, allTimes[job]?.started == nil { allTimes[job]?.started = wall }
        switch write {
        case .insertJob(let job): allTimes[job.summary.id] = JobTimes(created: wall)
        case .forget(let job):
            specs[job] = nil
            allTimes[job] = nil
        case .job(let summary):
            guard summary.state.isFinal else { return }
            if allTimes[summary.id]?.ended == nil { allTimes[summary.id]?.ended = wall }
            specs[summary.id] = specs[summary.id]?.withoutMasks
        case .reopen(let job, _): allTimes[job.summary.id]?.ended = nil
        case .batch, .package, .failures, .resetBatches, .orphan, .addBatches, .dropped, .schedule, .firing,
            .dropSchedule, .step,
            .originLimit, .originBlocked:
            break
        }
    }

    /// The jobs of the same edition of the catalog whose packages are newer than those of a job.
    ///
    /// For an ended job these are the jobs that ended after it. A job that has not ended is overtaken by jobs that
    /// started after it and are done.
    func successors(of job: JobID) -> [JobID] {
        guard let own = allTimes[job] else { return [] }
        return allTimes.filter { other, times in
            guard other != job, let ended = times.ended else { return false }
            return own.ended.map { ended >= $0 } ?? (times.created > own.created)
        }.keys.sorted().filter { other in
            guard let own = specs[job], let other = specs[other] else { return false }
            return own.publish.hasSamePlace(as: other.publish)
        }
    }
}
