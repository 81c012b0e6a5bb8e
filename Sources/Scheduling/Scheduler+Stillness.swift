/// Why an unfinished job stands still, as people are told.
extension Scheduler {
    /// Why nobody works on a job that is to go on: no worker is there, or all have fallen silent; empty = some are there.
    public func absence(for id: JobID, now: Tick) -> String {
        guard isLiving(id), !sessions.values.contains(where: { !$0.isSuspect }) else { return "" }
        guard let last = sessions.values.map(\.lastHeard).max() else {
            return "no worker is connected; start one with packhorse worker"
        }
        return "no worker was heard for \((now - last) / 1_000) s"
    }

    /// What all the work of a job waits for that is left: silent workers that have it, or another try after a failure; empty = some goes on.
    public func stillness(of id: JobID, now: Tick) -> String {
        guard isLiving(id), let job = places[id], jobs[job].summary.counts[.ready] == 0 else { return "" }
        let out = leases.values.filter { $0.work.job == job }
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
