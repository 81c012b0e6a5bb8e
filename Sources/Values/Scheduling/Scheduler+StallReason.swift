/// Why an unfinished job makes no progress, as text for people.
extension Scheduler {
    /// Why no worker is available: none is connected, or all are silent, paused after a local failure, or at a limit of their
    /// machines; empty = some are available.
    ///
    /// The same for all jobs: a list of jobs asks once.
    public func absence(now: Tick) -> String {
        let heard = sessions.values.filter { !$0.isSuspect }
        guard heard.isEmpty else { return hindrance(among: heard, now: now) }
        guard let last = sessions.values.map(\.lastHeard).max() else {
            return "no worker is connected; start one with packhorse worker"
        }
        return "no message from any worker for \((now - last) / 1_000) s"
    }

    /// Why none of these workers, of which there is one at least, takes work; empty = one does.
    func hindrance(among workers: [Session], now: Tick) -> String {
        let hindrances = workers.sorted { ($0.profile.name, $0.id) < ($1.profile.name, $1.id) }.map {
            (name: $0.profile.name, text: $0.hindrance(now: now))
        }
        guard let first = hindrances.first, !hindrances.contains(where: \.text.isEmpty) else { return "" }
        let others = hindrances.count > 1 ? "; \(hindrances.count - 1) more take none either" : ""
        return "worker \(first.name) \(first.text)\(others)"
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
