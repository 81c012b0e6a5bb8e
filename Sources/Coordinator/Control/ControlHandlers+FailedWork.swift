import Foundation
import Scheduling
import Tiles
import Wire

extension ControlHandlers {
    /// Lists failed work.
    ///
    /// `after` is the position of the last entry that was seen: `job << 32 | batch + 1`, 0 = from the start.
    func listFailedWork(_ body: PBListFailed, _ asker: Asker) {
        let job = JobID(body.job)
        if job != 0, state.scheduler.summary(of: job) == nil {
            return state.reply(WireConversions.problem(.unknown(job)), to: asker)
        }
        let limit = body.limit == 0 ? 100 : Int(min(body.limit, 1_000))
        var place = StateStore.FailedPlace(job: job)
        if body.after > 0 {
            place.after = (JobID((body.after - 1) >> 32), BatchIndex(Int((body.after - 1) & 0xFFFF_FFFF)))
        }
        answer(asker, about: "The failed work") { [place] store in
            // All entries of a page share one limit of named tiles.
            let found = try await store.failedWork(place, limit: limit + 1, named: max(4_096 / limit, 4))
            return .failedWork(
                .make {
                    $0.batches = found.prefix(limit).map(WireConversions.failedBatch)
                    $0.more = found.count > limit
                })
        }
    }

    /// Requeues or drops failed work.
    ///
    /// The failed batches of an ended job are read from the state file, outside the loop.
    func orderFailedWork(_ body: PBFailedOrder, _ asker: Asker) {
        let id = JobID(body.job)
        guard let summary = state.scheduler.summary(of: id) else {
            return state.reply(WireConversions.problem(.unknown(id)), to: asker)
        }
        guard ["requeue", "drop"].contains(body.order) else {
            let text = "'\(body.order.prefix(40))' is not an order for failed work. Use requeue or drop."
            return state.reply(WireConversions.problem("bad-request", text), to: asker)
        }
        guard summary.state.isFinal else {
            return orderFailedWork(body, of: state.scheduler.failedBatches(of: id), asker)
        }
        query(asker, about: "The failed work of job \(id)") { store in
            .failedWorkFound(asker, body, try await store.failedBatches(of: id))
        }
    }

    /// The same when the failed batches of the job are known.
    func orderFailedWork(_ body: PBFailedOrder, of failed: [BatchIndex], _ asker: Asker) {
        let id = JobID(body.job)
        guard let summary = state.scheduler.summary(of: id) else {
            return state.reply(WireConversions.problem(.unknown(id)), to: asker)
        }
        let all = Set(failed)
        let named = body.batches.map { BatchIndex(Int(clamping: $0)) }
        if let unknown = named.first(where: { !all.contains($0) }) {
            let text = "Batch \(unknown) of job \(id) has not failed."
            return state.reply(
                WireConversions.problem(
                    "unknown-batch", text, hint: "packhorse failed list \(id) lists the failed batches"),
                to: asker)
        }
        guard !all.isEmpty else { return ordered(changed: 0, "job \(id) has no failed work", asker) }
        let chosen = named.isEmpty ? nil : named
        let count = chosen.map { Set($0).count } ?? all.count
        let what = count == 1 ? "1 batch" : "\(count) batches"
        if body.order == "drop" {
            state.handle(.drop(id, batches: chosen))
            ordered(changed: count, "\(what) of job \(id) will not be tried again", asker)
        } else if !summary.state.isFinal {
            state.handle(.requeue(id, batches: chosen))
            ordered(changed: count, "\(what) of job \(id) will be tried again", asker)
        } else if summary.state == .failed, summary.keepsBlobs || environment.options.keepShards {
            reopen(id, only: chosen, asker)
        } else {
            state.reply(WireConversions.problem(Self.refusal(ofRequeue: summary)), to: asker)
        }
    }

    private static func refusal(ofRequeue job: JobSummary) -> Refusal {
        let text = "Job \(job.id) has ended (\(job.state.rawValue)) and its tiles were removed."
        let hint =
            job.state == .done
            ? "submit it again to build it from the start" : "packhorse retry \(job.id) fetches all of them again"
        return Refusal("job-ended", text, hint: hint)
    }
}
