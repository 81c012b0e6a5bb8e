import Foundation
import Scheduling
internal import TextFormats
import Tiles
import Wire

extension ControlHandlers {
    /// Lists failed work.
    ///
    /// `after` is the position of the last entry that was seen: `job << 32 | batch + 1`, 0 = from the start.
    func listFailedWork(_ body: PBListFailed, _ replyAddress: ReplyAddress) {
        let job = JobID(body.job)
        if job != 0, state.scheduler.summary(of: job) == nil {
            return state.reply(WireConversions.problem(.unknown(job)), to: replyAddress)
        }
        let limit = body.limit == 0 ? 100 : Int(min(body.limit, 1_000))
        var place = StateStore.FailedPlace(job: job)
        if body.after > 0 {
            place.after = (JobID((body.after - 1) >> 32), BatchIndex(Int((body.after - 1) & 0xFFFF_FFFF)))
        }
        answer(replyAddress, about: "The failed work") { [place] store in
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
    func orderFailedWork(_ body: PBFailedOrder, _ replyAddress: ReplyAddress) {
        let id = JobID(body.job)
        guard let summary = state.scheduler.summary(of: id) else {
            return state.reply(WireConversions.problem(.unknown(id)), to: replyAddress)
        }
        guard ["requeue", "drop"].contains(body.order) else {
            let text = "'\(body.order.prefix(40))' is not an order for failed work. Use requeue or drop."
            return state.reply(WireConversions.problem("bad-request", text), to: replyAddress)
        }
        guard summary.state.isFinal else {
            return orderFailedWork(body, of: state.scheduler.failedBatches(of: id), replyAddress)
        }
        query(replyAddress, about: "The failed work of job \(id)") { store in
            .failedWorkFound(replyAddress, body, try await store.failedBatches(of: id))
        }
    }

    /// Drops failed work of an ended job: the rows outside of the loop, then the job's own part of it.
    private func drop(
        _ failed: [BatchIndex], chosen: [BatchIndex]?, count: Int, of id: JobID, text: String,
        replyAddress: ReplyAddress
    ) {
        guard !changingJobs.contains(id) else {
            return replyBusy("Batches of job \(id) are being changed.", replyAddress)
        }
        changingJobs.insert(id)
        let wall = environment.wall
        state.tick.tasks.append(
            .run(.queries) { [store = environment.store] in
                do {
                    try await store.drop(chosen ?? failed, ofEnded: id, wall: wall)
                    return .failedWorkDropped(replyAddress, id, chosen: chosen, count: count, .success(text))
                } catch {
                    let problem = SubmitProblem("degraded", "The failed work of job \(id) cannot be dropped: \(error)")
                    return .failedWorkDropped(replyAddress, id, chosen: chosen, count: count, .failure(problem))
                }
            })
    }

    /// Finishes an order to drop failed work of an ended job.
    func dropped(
        _ id: JobID, chosen: [BatchIndex]?, count: Int, result: Result<String, SubmitProblem>,
        replyAddress: ReplyAddress
    ) {
        changingJobs.remove(id)
        switch result {
        case .failure(let problem):
            state.reply(WireConversions.problem(problem.code, problem.text, hint: problem.hint), to: replyAddress)
        case .success(let text):
            state.handle(.drop(id, batches: chosen))
            ordered(changed: count, text, replyAddress)
        }
    }

    /// The same when the failed batches of the job are known.
    func orderFailedWork(_ body: PBFailedOrder, of failed: [BatchIndex], _ replyAddress: ReplyAddress) {
        let id = JobID(body.job)
        guard let summary = state.scheduler.summary(of: id) else {
            return state.reply(WireConversions.problem(.unknown(id)), to: replyAddress)
        }
        let all = Set(failed)
        let named = body.batches.map { BatchIndex(Int(clamping: $0)) }
        if let unknown = named.first(where: { !all.contains($0) }) {
            let text = "Batch \(unknown) of job \(id) has not failed."
            return state.reply(
                WireConversions.problem(
                    "unknown-batch", text, hint: "packhorse failed list \(id) lists the failed batches"),
                to: replyAddress)
        }
        guard !all.isEmpty else { return ordered(changed: 0, "job \(id) has no failed work", replyAddress) }
        let chosen = named.isEmpty ? nil : named
        let count = chosen.map { Set($0).count } ?? all.count
        let what = Units.count(count, of: "batch")
        let isDrop = body.order == "drop"
        let text = "\(what) of job \(id) will \(isDrop ? "not be tried again" : "be tried again")"
        if !summary.state.isFinal {
            failedWorkOrders.append(
                FailedWorkOrder(
                    replyAddress: replyAddress, job: id, isDrop: isDrop, rest: (chosen ?? failed)[...], count: count,
                    text: text))
            continueFailedWorkOrder()
        } else if isDrop {
            drop(failed, chosen: chosen, count: count, of: id, text: text, replyAddress: replyAddress)
        } else if summary.state == .failed, summary.keepsBlobs || environment.options.keepShards {
            reopen(id, only: chosen, replyAddress)
        } else {
            state.reply(WireConversions.problem(Self.refusal(ofRequeue: summary)), to: replyAddress)
        }
    }

    /// Carries out the next slice of the oldest order for failed work of an unfinished job.
    ///
    /// The order is answered with its last slice. After a crash between two slices the client asks again, and what is
    /// done already has no failed work any more.
    func continueFailedWorkOrder() {
        guard var order = failedWorkOrders.first else { return }
        let slice = Array(order.rest.prefix(FailedWorkOrder.batchesInSlice))
        order.rest = order.rest.dropFirst(slice.count)
        state.handle(order.isDrop ? .drop(order.job, batches: slice) : .requeue(order.job, batches: slice))
        guard order.rest.isEmpty else {
            failedWorkOrders[0] = order
            return
        }
        failedWorkOrders.removeFirst()
        ordered(changed: order.count, order.text, order.replyAddress)
    }

    private static func refusal(ofRequeue job: JobSummary) -> Refusal {
        let text = "Job \(job.id) has ended (\(job.state.rawValue)) and its tiles were removed."
        let hint =
            job.state == .done
            ? "submit it again to build it from the start" : "packhorse retry \(job.id) fetches all of them again"
        return Refusal("job-ended", text, hint: hint)
    }
}

/// An order for failed work of an unfinished job.
struct FailedWorkOrder: Sendable {
    /// Batches of one tick: some 10 ms of its transaction.
    static let batchesInSlice = 200

    let replyAddress: ReplyAddress
    let job: JobID
    /// Whether the work is dropped; if not, it is tried again.
    let isDrop: Bool
    /// The batches that are left.
    var rest: ArraySlice<BatchIndex>
    /// The number of all batches.
    let count: Int
    /// The answer.
    let text: String
}
