import Errors

/// All tiles of a job come from one version of its source's data.
///
/// A worker names the version with each result: a text that is equal exactly when the data is equal. The submission
/// names the job's version, otherwise the first result with tiles does. A result of another version ends the job,
/// because only that ensures that versions are not mixed. Tiles fetched by other jobs are used only from the same
/// version. Servers have no version (`nil`); workers of earlier builds report none, and their results are accepted.
extension Scheduler {
    /// Whether a result may become part of a job.
    ///
    /// The first named version becomes the job's version.
    mutating func admits(_ version: String?, to job: JobPlace) -> Bool {
        guard let version else { return true }
        if let own = jobs[job].summary.sourceVersion { return own == version }
        jobs[job].summary.sourceVersion = version
        storeJob(job)
        return true
    }

    /// Ends a job because one of its batches met another version of the source's data.
    ///
    /// - Parameter found: That version, or what the worker reports about it.
    mutating func endForSource(_ job: JobPlace, by id: SessionID, found: String, now: Tick) {
        let profile = sessions[id]?.profile
        let worker = profile.map { "worker \($0.name) on \($0.host)" } ?? "a worker"
        let own = jobs[job].summary.sourceVersion ?? "unknown"
        let what =
            own.hasPrefix(JobSummary.serverBuildMark)
            ? "the server names another build of its tiles than when the job began"
            : found.hasPrefix("no build ")
                ? "the build was removed from its server while the job ran"
                : "the archive was replaced or written to while the job ran"
        let reason = """
            \(FailureCause.sourceChanged.rawValue): \(what), and its tiles must not be mixed. \
            The job began with \(own); \(worker) has \(found). Submit the job again. \
            If each worker has its own copy, all copies must have the same bytes and the same time (cp -p, rsync -t).\(Self.sizes(own, found))
            """
        end(job, as: .failed, reason: reason, now: now)
    }

    /// What two versions of a file on a server have in common, for people.
    private static func sizes(_ own: String, _ found: String) -> String {
        guard let mark = own.firstRange(of: " with ETag "), found.hasPrefix(own[..<mark.upperBound]) else { return "" }
        return
            " Both have \(own[..<mark.lowerBound]): if the file was not replaced, the machines of the server give it "
            + "different ETags; make them equal, or use one machine."
    }

    /// The required version of the shards that are offered as sources to a batch: the job's own, or, before that is
    /// known, that of the newest other job.
    func sourcesVersion(for job: JobPlace) -> String? {
        if let own = jobs[job].summary.sourceVersion { return own }
        guard let tileset = jobs[job].tileset else { return nil }
        let others = (sharing[tileset] ?? []).filter { $0 != job }.sorted(by: >)
        return others.lazy.compactMap { self.jobs[$0].summary.sourceVersion }.first
            ?? shardSources[tileset]?.last { $0.sourceVersion != nil }?.sourceVersion
    }
}
