import Foundation
import Scheduling
import Wire

/// The list of jobs: those in memory, and summaries of forgotten jobs.
extension ControlHandlers {
    /// Reads one page of the history of jobs; see ``listJobs(_:old:asker:)``.
    func listJobs(_ body: PBListJobs, _ replyAddress: ReplyAddress) {
        query(replyAddress, about: "The history of jobs") { store in
            .historyRead(
                replyAddress, body, try await store.history(before: body.start, limit: body.pageSize, JobFilter(body)))
        }
    }

    /// Answers with one page of the requested jobs, newest first.
    func listJobs(_ body: PBListJobs, old: StateStore.HistoryPage, replyAddress: ReplyAddress) {
        let (limit, before, filter) = (body.pageSize, body.start, JobFilter(body))
        let kept = state.scheduler.jobIDs.filter { $0 < before && $0 >= old.floor && includes($0, filter) }
        let forgotten = Dictionary(old.jobs.map { (JobID($0.job), $0) }) { $1 }
        let found = (kept + forgotten.keys).sorted(by: >)
        // A list of jobs may name 4,096 packages in total, and must fit a frame.
        let packages = min(20, 4_096 / max(min(found.count, limit), 1))
        var bytesLeft = MessageType.jobs.maxBodyBytes / 2
        var page: [PBJobStatus] = []
        let absence = state.scheduler.absence(now: environment.now)
        for id in found.prefix(limit) {
            guard let status = forgotten[id] ?? status(id, maxPackages: packages, absence: absence) else { continue }
            // A status that cannot be encoded ends the page; sending the page reports the error.
            bytesLeft -= (try? StateStore.encoded(status).count) ?? bytesLeft
            guard bytesLeft > 0 || page.isEmpty else { break }
            page.append(status)
        }
        let isWhole = page.count == found.count
        state.reply(
            .jobs(
                .make {
                    $0.next = isWhole ? old.floor.rawValue : page.last?.job ?? 0
                    $0.jobs = page.reversed()
                }), to: replyAddress)
    }

    private func includes(_ id: JobID, _ filter: JobFilter) -> Bool {
        guard let summary = state.scheduler.summary(of: id), let spec = state.jobs.spec(of: id),
            let times = state.jobs.times(of: id)
        else { return false }
        return filter.matches(
            state: summary.state.rawValue, isPaused: !summary.state.isFinal && summary.priority < 0, label: spec.label,
            created: times.created)
    }
}

extension PBListJobs {
    /// The number of jobs in the answer.
    fileprivate var pageSize: Int { limit == 0 ? 100 : Int(min(limit, 1_000)) }

    /// Only jobs with lower numbers are requested.
    fileprivate var start: JobID { JobID(before == 0 ? .max : before) }
}
