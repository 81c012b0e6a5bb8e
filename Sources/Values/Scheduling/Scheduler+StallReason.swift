/// Why an unfinished job makes no progress, as text for people.
extension Scheduler {
    /// Why no worker is available: none is connected, or all are silent or paused after a local failure; empty = some are
    /// available.
    ///
    /// The same for all jobs: a list of jobs asks once.
    public func absence(now: Tick) -> String {
        let heard = sessions.values.filter { !$0.isSuspect }
        if let first = heard.min(by: { ($0.profile.name, $0.id) < ($1.profile.name, $1.id) }) {
            guard heard.allSatisfy({ $0.pausedUntil.map { $0 > now } ?? false }) else { return "" }
            let others = heard.count > 1 ? "; \(heard.count - 1) more are paused too" : ""
            return "worker \(first.profile.name) is paused after \(first.pauseReason)\(others)"
        }
        guard let last = sessions.values.map(\.lastHeard).max() else {
            return "no worker is connected; start one with packhorse worker"
        }
        return "no message from any worker for \((now - last) / 1_000) s"
    }

    /// What all remaining work of a job waits for: silent workers that hold it, or a retry after a failure; empty =
    /// some of it makes progress.
    public func stallReason(of id: JobID, now: Tick) -> String {
        guard isLiving(id), let job = places[id] else { return "" }
        if jobs[job].isPlanned, jobs[job].leased.isEmpty, !sessions.isEmpty,
            !sessions.values.contains(where: \.profile.plansRanges)
        {
            return "the workers are of an older build, which plans no ranges of archives; start workers of this build"
        }
        guard jobs[job].summary.counts[.ready] == 0 else { return "" }
        let out = jobs[job].leased.compactMap { leases[$0] }
        guard let next = out.map(\.end).min() else { return repetition(in: job) }
        // An unknown session is from before a restart.
        guard out.allSatisfy({ sessions[$0.session]?.isSuspect ?? true }) else { return "" }
        return "its work is leased to silent workers; the leases expire in \(max(next - now, 0) / 1_000) s"
    }

    private func repetition(in job: JobPlace) -> String {
        guard jobs[job].summary.state == .fetching, jobs[job].summary.counts[.backoff] > 0,
            let trouble = jobs[job].batches.first(where: { $0.state == .backoff && $0.trouble != nil })?.trouble
        else { return "" }
        return "retry after \(trouble.cause): \(trouble.detail)"
    }
}
