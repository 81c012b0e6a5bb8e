/// Why an unfinished job stands still, as people are told.
extension Scheduler {
    /// Why nobody works on a job that is to go on: no worker is there, or all have fallen silent or rest; empty = some are there.
    ///
    /// The same for all jobs: a list of jobs asks once.
    public func absence(now: Tick) -> String {
        let heard = sessions.values.filter { !$0.isSuspect }
        if let first = heard.min(by: { ($0.profile.name, $0.id) < ($1.profile.name, $1.id) }) {
            guard heard.allSatisfy({ $0.restingUntil.map { $0 > now } ?? false }) else { return "" }
            let others = heard.count > 1 ? "; so do \(heard.count - 1) more" : ""
            return "worker \(first.profile.name) rests after \(first.restingFor)\(others)"
        }
        guard let last = sessions.values.map(\.lastHeard).max() else {
            return "no worker is connected; start one with packhorse worker"
        }
        return "no worker was heard for \((now - last) / 1_000) s"
    }

    /// What all the work of a job waits for that is left: silent workers that have it, or another try after a failure; empty = some goes on.
    public func stillness(of id: JobID, now: Tick) -> String {
        guard isLiving(id), let job = places[id], jobs[job].summary.counts[.ready] == 0 else { return "" }
        let out = jobs[job].leased.compactMap { leases[$0] }
        guard let next = out.map(\.end).min() else { return repetition(in: job) }
        // A session that is not known is one of before a restart.
        guard out.allSatisfy({ sessions[$0.session]?.isSuspect ?? true }) else { return "" }
        return "its work is out with workers that are not heard; it is taken back in \(max(next - now, 0) / 1_000) s"
    }

    private func repetition(in job: Int) -> String {
        guard jobs[job].summary.state == .fetching, jobs[job].summary.counts[.backoff] > 0,
            let trouble = jobs[job].batches.first(where: { $0.state == .backoff && $0.trouble != nil })?.trouble
        else { return "" }
        return "to try again after \(trouble.cause): \(trouble.detail)"
    }
}
