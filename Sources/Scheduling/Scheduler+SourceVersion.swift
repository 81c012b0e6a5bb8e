/// All tiles of a job come from one version of its source's data.
///
/// A worker names the version with each result: a text that is equal exactly when the data is (docs/decisions/0001). The submission names the
/// job's version, else the first result with tiles does; a result of another version ends the job, because no other end is sure not to mix them. What other jobs
/// fetched is taken only from the same version. Servers have no version (`nil`), and neither have workers of earlier builds, which are
/// believed.
extension Scheduler {
    /// Whether a result may become part of a job; the first version that is named becomes the job's.
    mutating func admits(_ version: String?, to job: Int) -> Bool {
        guard let version else { return true }
        if let own = jobs[job].summary.sourceVersion { return own == version }
        jobs[job].summary.sourceVersion = version
        storeJob(job)
        return true
    }

    /// Ends a job one of whose batches met another version of the source's data.
    ///
    /// - Parameter found: That version, or what the worker says of it.
    mutating func endForSource(_ job: Int, by id: SessionID, found: String, now: Tick) {
        let profile = sessions[id]?.profile
        let worker = profile.map { "worker \($0.name) on \($0.host)" } ?? "a worker"
        let own = jobs[job].summary.sourceVersion ?? "unknown"
        let reason = """
            \(FailureCause.sourceChanged.rawValue): the archive was replaced or written to while the job ran, and its tiles must not be mixed. \
            The job began with \(own); \(worker) has \(found). Submit the job again. \
            If each worker has a copy of its own, all copies must have the same bytes and the same time (cp -p, rsync -t).
            """
        end(job, as: .failed, reason: reason, now: now)
    }

    /// The version that the shards offered as sources to a batch must have: the job's own, or before that is known the newest other job's.
    func sourcesVersion(for job: Int) -> String? {
        if let own = jobs[job].summary.sourceVersion { return own }
        guard let tileset = jobs[job].tileset else { return nil }
        let others = (sharing[tileset] ?? []).filter { $0 != job }.sorted(by: >)
        return others.lazy.compactMap { self.jobs[$0].summary.sourceVersion }.first
            ?? donors[tileset]?.last { $0.sourceVersion != nil }?.sourceVersion
    }
}
