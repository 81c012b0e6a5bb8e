import Wire

/// Tells the watcher of a job that does not move why that may be: nobody to do the work, or workers in trouble.
struct StallNotice {
    private var last: (settled: UInt64, state: String)?
    private var since = 0.0
    private var quiet = 5.0

    /// Whether the job has stood still long enough to say something; then twice as long until the next time.
    mutating func isDue(_ job: JobView, at seconds: Double) -> Bool {
        guard stands(job, at: seconds) >= quiet else { return false }
        quiet *= 2
        return true
    }

    /// How long the job has stood still, in seconds; 0 before the first question about it.
    mutating func stands(_ job: JobView, at seconds: Double) -> Double {
        note(job, at: seconds)
        return seconds - since
    }

    private mutating func note(_ job: JobView, at seconds: Double) {
        if let last, last == (job.settled, job.state) { return }
        last = (job.settled, job.state)
        since = seconds
        quiet = 5
    }

    /// What is known about it: the job's own reason, else what the workers' states say.
    static func lines(_ job: JobView, _ workers: [PBWorkerStatus]) -> [String] {
        // While it fetches, that is about tiles that have failed.
        if job.state != "fetching", let reason = job.reason { return ["nothing moves: \(reason)"] }
        guard !workers.isEmpty else {
            return ["nothing moves: no worker is connected; start one with 'packhorse worker'"]
        }
        let troubled = workers.filter { !$0.reason.isEmpty }
        guard !troubled.isEmpty else {
            let leases = workers.reduce(0) { $0 + Int($1.leases) }
            return [
                "nothing moves: \(Units.count(workers.count, of: "worker")) connected, \(Units.count(leases, of: "lease")) out"
                    + (job.state == "fetching" ? "; the origin may be slow or asks to wait" : "")
            ]
        }
        let causes = EqualCauses.lines(
            troubled.map { ("worker \($0.name)", "\($0.state): \($0.reason)") }, of: "worker")
        return causes.map { "nothing moves: \($0)" }
    }
}

extension PBWorkerStatus {
    /// Whether the coordinator has missed several of its heartbeats: it may be gone.
    var isSilent: Bool { state == "suspect" }
}
