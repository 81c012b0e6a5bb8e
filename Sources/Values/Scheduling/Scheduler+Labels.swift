/// Labels tie jobs to workers: only a worker with all labels of a job gets its batches and merges.
///
/// A lease that was granted stays, also when the worker comes back without a label.
extension Scheduler {
    /// Whether a session has all labels of a job.
    func hasLabels(_ session: Session, of job: JobPlace) -> Bool {
        jobs[job].labels.allSatisfy(session.profile.labels.contains)
    }

    /// Whether a worker may get batches of a job: it has its labels, and understands its batches.
    func suits(_ job: JobPlace, _ id: SessionID) -> Bool {
        sessions[id].map { hasLabels($0, of: job) } == true && understands(job, id)
    }

    /// The labels of a job, ascending; empty = every worker may work for it.
    public func labels(of id: JobID) -> [String] { places[id].map { jobs[$0].labels } ?? [] }

    /// Why no worker works for an unfinished job with labels: none has them, or those that have them take no work; empty = one does,
    /// or the job has no labels.
    public func missingLabels(of id: JobID, now: Tick) -> String {
        guard isLiving(id), let job = places[id], !jobs[job].labels.isEmpty, jobs[job].leased.isEmpty,
            jobs[job].summary.state != .publishing
        else { return "" }
        let heard = sessions.values.filter { !$0.isSuspect }
        let labelled = heard.filter { hasLabels($0, of: job) }
        guard labelled.isEmpty else {
            let staying = labelled.filter { !$0.isDraining }
            return staying.isEmpty
                ? "each worker with \(Self.named(jobs[job].labels)) was asked to leave"
                : hindrance(among: staying, now: now)
        }
        let known = Set(heard.lazy.flatMap(\.profile.labels))
        let unknown = jobs[job].labels.filter { !known.contains($0) }
        let start = jobs[job].labels.map { " --label \($0)" }.joined()
        return "no worker has \(unknown.isEmpty ? "all of " : "")"
            + "\(Self.named(unknown.isEmpty ? jobs[job].labels : unknown)); start one with packhorse worker\(start)"
    }

    private static func named(_ labels: [String]) -> String {
        "the label\(labels.count == 1 ? "" : "s") \(labels.joined(separator: ", "))"
    }
}
