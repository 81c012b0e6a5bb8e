import Foundation
import Scheduling
import Wire

/// The list of jobs: those in memory, and summaries of forgotten jobs.
extension CoordinatorEngine {
    /// Answers with one page of the requested jobs, newest first.
    func listJobs(_ body: PBListJobs, _ asker: Asker) async {
        let limit = body.limit == 0 ? 100 : Int(min(body.limit, 1_000))
        let before = body.before == 0 ? JobID.max : body.before
        let filter = JobFilter(body)
        let old: StateStore.HistoryPage
        do {
            old = try await store.history(before: before, limit: limit, filter)
        } catch {
            return reply(
                WireConversions.problem("degraded", "The history of jobs cannot be read: \(error)", retriable: true),
                to: asker)
        }
        let kept = scheduler.jobIDs.filter { $0 < before && $0 >= old.floor && takes($0, filter) }
        let forgotten = Dictionary(old.jobs.map { ($0.job, $0) }) { $1 }
        let found = (kept + forgotten.keys).sorted(by: >)
        // A list of jobs may name 4,096 packages in total, and must fit a frame.
        let packages = min(20, 4_096 / max(min(found.count, limit), 1))
        var room = MessageType.jobs.maxBodyBytes / 2
        var page: [PBJobStatus] = []
        let absence = scheduler.absence(now: now)
        for id in found.prefix(limit) {
            guard let status = forgotten[id] ?? status(id, mostPackages: packages, absence: absence) else { continue }
            room -= (try? StateStore.encoded(status).count) ?? room
            guard room > 0 || page.isEmpty else { break }
            page.append(status)
        }
        let isWhole = page.count == found.count
        reply(
            .jobs(
                .make {
                    $0.next = isWhole ? old.floor : page.last?.job ?? 0
                    $0.jobs = page.reversed()
                }), to: asker)
    }

    private func takes(_ id: JobID, _ filter: JobFilter) -> Bool {
        guard let summary = scheduler.summary(of: id), let spec = specs[id], let times = times[id] else { return false }
        return filter.takes(
            state: summary.state.rawValue, isPaused: !summary.state.isFinal && summary.priority < 0, label: spec.label,
            created: times.created)
    }
}
