extension Schedule {
    /// When it needs the wall time next; milliseconds since 1970.
    var nextAttempt: Int64 {
        switch attempts.retryAt {
        case 0: next
        case Attempts.asked: 0
        default: min(next, attempts.retryAt)
        }
    }

    /// Whether its next attempt was set by a clock that was ahead.
    func isRetryAhead(of wall: Int64) -> Bool {
        attempts.retryAt > 0 && attempts.retryAt - wall > retry.wait(after: attempts.failures)
    }

    /// What started a firing.
    ///
    /// - Parameter due: `nil` = it was run by hand.
    func trigger(of due: Int64?) -> PastFiring.Trigger {
        guard let due else { return .hand }
        return due < next ? .retry : .rule
    }

    /// Whether a firing that was due then is not superseded by a run by hand, a pause or a change.
    func isAwaiting(_ due: Int64) -> Bool { due == next || due == attempts.retryAt }

    /// The present firing needs no further attempt.
    mutating func endAttempts() { (attempts.failures, attempts.retryAt) = (0, 0) }

    /// The last attempt of a firing failed.
    mutating func raiseAlert(_ reason: String) {
        endAttempts()
        attempts.alerts += 1
        attempts.alert = String(reason.prefix(PastFiring.maxDetail))
    }
}

/// Attempts of firings, and their history.
extension Scheduler {
    /// Fires at a time of the rule.
    ///
    /// That ends the attempts of the firing before, if none of them still runs.
    mutating func fireByRule(_ id: String, _ schedule: Schedule, wall: Int64) {
        guard !isLiving(schedule.lastJob) else {
            let trouble = Trouble(cause: "last-job-runs", detail: "job \(schedule.lastJob) had not ended")
            record(id, at: wall, due: schedule.next, by: .rule, .skipped, trouble: trouble)
            return skip(id, wall: wall)
        }
        // No attempt could be made meanwhile, for example because the coordinator was down.
        if schedule.attempts.failures > 0 {
            schedules[id]?.raiseAlert(schedule.attempts.alert)
            storeSchedule(id)
        }
        firing[id] = schedule.next
        effects.append(.fire(schedule: id, due: schedule.next))
    }

    /// Fires again after a failed attempt, or sets the time for that.
    mutating func fireAgain(_ id: String, wall: Int64) {
        guard let attempts = schedules[id]?.attempts, attempts.retryAt != 0 else { return }
        guard attempts.retryAt != Schedule.Attempts.asked else { return setRetry(id, attempts.alert, wall: wall) }
        guard attempts.retryAt <= wall, let schedule = schedules[id], !isLiving(schedule.lastJob) else { return }
        firing[id] = attempts.retryAt
        effects.append(.fire(schedule: id, due: attempts.retryAt))
    }

    /// An attempt failed: another one follows, or there is an alert.
    ///
    /// - Parameters:
    ///   - job: The job that failed; 0 = there was none.
    ///   - wall: `nil` = not known; the next event with the wall time sets the time of the next attempt.
    mutating func attemptFailed(_ id: String, _ reason: String, job: JobID = 0, wall: Int64?) {
        guard let schedule = schedules[id] else { return }
        schedules[id]?.attempts.failures += 1
        schedules[id]?.attempts.failedJob = job
        if schedule.isPaused || schedule.attempts.failures >= schedule.retry.count {
            schedules[id]?.raiseAlert(reason)
            return storeSchedule(id)
        }
        schedules[id]?.attempts.alert = String(reason.prefix(PastFiring.maxDetail))
        schedules[id]?.attempts.retryAt = Schedule.Attempts.asked
        guard let wall else { return storeSchedule(id) }
        setRetry(id, reason, wall: wall)
    }

    /// Sets the time of the next attempt.
    ///
    /// An attempt that would come after the next time of the rule is not made, so that an hourly schedule alerts too.
    private mutating func setRetry(_ id: String, _ reason: String, wall: Int64) {
        guard let schedule = schedules[id] else { return }
        let due = wall + schedule.retry.wait(after: schedule.attempts.failures)
        if due < schedule.next {
            schedules[id]?.attempts.retryAt = due
        } else {
            schedules[id]?.raiseAlert(reason)
        }
        storeSchedule(id)
    }

    /// A job has ended: the attempts of the schedule whose newest job it is go on or end.
    mutating func endFiring(of job: JobSummary) {
        for schedule in allSchedules where schedule.lastJob == job.id {
            // A job that was resumed and failed once more is still one attempt.
            if job.state == .failed, schedule.attempts.failedJob == job.id { continue }
            if job.state == .failed {
                attemptFailed(schedule.id, "job \(job.id) failed: \(job.reason)", job: job.id, wall: nil)
            } else if schedule.attempts.failures > 0 {
                schedules[schedule.id]?.endAttempts()
                storeSchedule(schedule.id)
            }
        }
    }

    /// Adds a row to the history of a schedule.
    mutating func record(
        _ id: String, at wall: Int64, due: Int64, by trigger: PastFiring.Trigger, _ result: PastFiring.Result,
        job: JobID = 0, trouble: Trouble? = nil, build: String = ""
    ) {
        guard let number = schedules[id].map({ $0.attempts.recorded + 1 }) else { return }
        schedules[id]?.attempts.recorded = number
        store(
            .firing(
                PastFiring(
                    schedule: id, number: number, at: wall, due: due, trigger: trigger, result: result, job: job,
                    trouble: trouble, build: build)))
    }

    private mutating func storeSchedule(_ id: String) {
        if let row = schedules[id] { store(.schedule(row, payload: nil)) }
    }
}
