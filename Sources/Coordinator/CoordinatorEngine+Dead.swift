import Foundation
import Scheduling
import Tiles
import Wire

extension CoordinatorEngine {
    /// Lists failed work.
    ///
    /// `after` is the position of the last entry that was seen: `job << 32 | batch + 1`, 0 = from the start.
    func letters(_ body: PBListFailed, _ asker: Asker) async throws {
        if body.job != 0, scheduler.summary(of: body.job) == nil {
            return reply(WireConversions.problem(.unknown(body.job)), to: asker)
        }
        let limit = body.limit == 0 ? 100 : Int(min(body.limit, 1_000))
        var place = StateStore.FailedPlace(job: body.job)
        if body.after > 0 { place.after = ((body.after - 1) >> 32, Int((body.after - 1) & 0xFFFF_FFFF)) }
        // All entries of a page share one limit of named tiles.
        let found = try await store.failedWork(place, limit: limit + 1, named: max(4_096 / limit, 4))
        reply(
            .failedWork(
                .make {
                    $0.batches = found.prefix(limit).map(WireConversions.letter)
                    $0.more = found.count > limit
                }), to: asker)
    }

    /// Requeues or drops failed work.
    func follow(_ body: PBFailedOrder, _ asker: Asker) async throws {
        let id = body.job
        guard let summary = scheduler.summary(of: id) else {
            return reply(WireConversions.problem(.unknown(id)), to: asker)
        }
        guard ["requeue", "drop"].contains(body.order) else {
            let text = "'\(body.order.prefix(40))' is not an order for failed work. Use requeue or drop."
            return reply(WireConversions.problem("bad-request", text), to: asker)
        }
        let all = Set(try await store.failedWork(StateStore.FailedPlace(job: id), limit: .max, named: 0).map(\.index))
        let named = body.batches.map { Int(clamping: $0) }
        if let stranger = named.first(where: { !all.contains($0) }) {
            let text = "Batch \(stranger) of job \(id) has not failed."
            return reply(
                WireConversions.problem(
                    "unknown-batch", text, hint: "packhorse failed list \(id) lists the failed batches"),
                to: asker)
        }
        guard !all.isEmpty else { return ordered(changed: 0, "job \(id) has no failed work", asker) }
        let chosen = named.isEmpty ? nil : named
        let count = chosen.map { Set($0).count } ?? all.count
        let what = count == 1 ? "1 batch" : "\(count) batches"
        if body.order == "drop" {
            take(scheduler.handle(.drop(id, batches: chosen), now: now))
            ordered(changed: count, "\(what) of job \(id) will not be tried again", asker)
        } else if !summary.state.isFinal {
            take(scheduler.handle(.requeue(id, batches: chosen), now: now))
            ordered(changed: count, "\(what) of job \(id) will be tried again", asker)
        } else if summary.state == .failed, summary.keepsBlobs || options.keepShards {
            try await reopen(id, only: chosen, asker)
        } else {
            reply(WireConversions.problem(Self.refusal(ofRequeue: summary)), to: asker)
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

extension WireConversions {
    static func letter(_ letter: StateStore.FailedBatch) -> PBFailedBatch {
        .make {
            $0.job = letter.job
            $0.batch = UInt64(letter.index)
            $0.cell = PBTile(letter.cell)
            $0.zoomMin = UInt32(letter.zooms.min)
            $0.zoomMax = UInt32(letter.zooms.max)
            $0.tiles = letter.tiles
            $0.cause = letter.trouble.cause
            $0.detail = letter.trouble.detail
            $0.attempts = UInt32(letter.attempts)
            $0.losses = UInt32(letter.losses)
            $0.whole = letter.isWhole
            $0.failures = letter.failures.map(failure)
        }
    }
}
