import Errors
import Foundation
import Scheduling
import Wire

/// Changes of a schedule that stays what it is otherwise (`schedule edit`).
extension ControlHandlers {
    /// Changes what an order names, checks the schedule as `schedule add` does, and stores it.
    ///
    /// - Parameter payload: The stored submission.
    func edit(_ body: PBScheduleOrder, payload: [UInt8], _ replyAddress: ReplyAddress) {
        do throws(Refusal) {
            guard let old = state.scheduler.schedule(body.id) else {
                throw refusal(ofSchedule: body.id) ?? Refusal("unknown-schedule", "There is no such schedule.")
            }
            let edit = body.edit
            guard edit.revision == 0 || edit.revision == old.revision else { throw Self.changed(body.id) }
            let schedule = Schedule(
                id: old.id,
                rule: try old.rule.changed(times: edit.times, zone: edit.timeZone, jitter: edit.jitter),
                label: old.label, retry: edit.retry.isEmpty ? old.retry : try RetryPolicy(edit.retry),
                wall: environment.wall)
            var submission = try Self.submission(payload, of: body.id)
            if !edit.catalog.isEmpty { submission.publish.catalog = edit.catalog }
            if edit.unlabelled || !edit.labels.isEmpty { submission.labels = edit.labels }
            guard edit.unfollows, submission.hasFollows else {
                submission.follow(edit)
                return try check(schedule, changing: old, as: submission, replyAddress)
            }
            // What the files say now stays.
            environment.executor.run(on: .checks) { [options = environment.options, submission] in
                let current = await LookupSlots.shared.run { await options.currentResult(submission) }
                return .scheduleFrozen(replyAddress, schedule, changing: old, current)
            }
        } catch {
            state.reply(WireConversions.problem(error), to: replyAddress)
        }
    }

    /// The refusal of a change of a schedule that another one has changed since it was read.
    static func changed(_ id: String) -> Refusal {
        Refusal(
            "schedule-changed",
            "Schedule '\(id)' was changed or removed since it was read, perhaps by an earlier attempt of the same command.",
            hint: "packhorse schedule show \(id), then repeat the command if it is still right")
    }

    /// Stores a schedule that follows its files no more.
    ///
    /// - Parameter current: Its submission with what the files say.
    func frozen(
        _ schedule: Schedule, changing old: Schedule, as current: Result<PBSubmit, SubmitProblem>,
        _ replyAddress: ReplyAddress
    ) {
        do throws(Refusal) {
            switch current {
            case .failure(let problem): throw Refusal(problem.code, problem.text, hint: problem.hint)
            case .success(var submission):
                submission.clearFollows()
                try check(schedule, changing: old, as: submission, replyAddress)
            }
        } catch {
            state.reply(WireConversions.problem(error), to: replyAddress)
        }
    }

    private func check(
        _ schedule: Schedule, changing old: Schedule, as submission: PBSubmit, _ replyAddress: ReplyAddress
    ) throws(Refusal) {
        let payload: [UInt8]
        do throws(SubmitProblem) { payload = try SubmitPlanner.payload(submission) } catch {
            throw Refusal(error.code, error.text, hint: error.hint)
        }
        check(schedule, as: submission, payload: payload, changing: old, replyAddress)
    }
}

extension PBSubmit {
    /// Follows the files that a change of the schedule names, in addition to those that it follows.
    fileprivate mutating func follow(_ edit: PBScheduleEdit) {
        guard !edit.packages.isEmpty || !edit.tileset.isEmpty else { return }
        if !hasFollows {
            follows.language = publish.edition.language
            // The zooms of the schedule stay: the request does not change them.
            follows.fixesZooms = true
        }
        if !edit.packages.isEmpty { follows.packages = edit.packages }
        if !edit.tileset.isEmpty { follows.tileset = edit.tileset }
    }
}
