extension Scheduler {
    /// Largest number of schedules in a coordinator.
    public static let maxSchedules = 1_000

    /// Every schedule by id.
    public var allSchedules: [Schedule] { schedules.values.sorted { $0.id < $1.id } }

    /// The number of schedules.
    public var scheduleCount: Int { schedules.count }

    /// The schedule with this id, or `nil`.
    public func schedule(_ id: String) -> Schedule? { schedules[id] }

    /// Whether a firing of a schedule is being prepared; not after the schedule was replaced.
    public func isFiring(_ id: String) -> Bool { firing[id] != nil }

    /// When ``Event/wall(_:)`` must be sent next; milliseconds since 1970, `nil` = never.
    public var nextFiring: Int64? {
        schedules.values.lazy.filter { firing[$0.id] == nil && !$0.isPaused }.map(\.nextAttempt).min()
    }

    /// Whether a schedule is set to an instant later than its next one after `wall`, because the clock was ahead when
    /// that was computed.
    ///
    /// ``Event/wall(_:)`` corrects it.
    ///
    /// - Parameter wall: Milliseconds since 1970.
    public func isAhead(of wall: Int64) -> Bool { schedules.values.contains { isAhead($0, of: wall) } }

    private func isAhead(_ schedule: Schedule, of wall: Int64) -> Bool {
        firing[schedule.id] == nil && !schedule.isPaused
            && (schedule.next > wall && schedule.next > schedule.next(after: wall) || schedule.isRetryAhead(of: wall))
    }

    mutating func put(_ schedule: Schedule, payload: [UInt8]) {
        guard schedules[schedule.id] != nil || schedules.count < Self.maxSchedules else { return }
        var row = schedule
        if let old = schedules[schedule.id] {
            row.lastJob = old.lastJob
            row.fired = old.fired
            row.skipped = old.skipped
            row.unchanged = old.unchanged
            row.isPaused = old.isPaused
            row.attempts = old.attempts
            row.revision = max(row.revision, old.revision == .max ? .max : old.revision + 1)
            if row.attempts.failures > row.retry.count { row.endAttempts() }
            // The place of the next firing stays while the times do.
            if row.rule == old.rule { row.next = min(row.next, old.next) }
        }
        firing[row.id] = nil
        schedules[row.id] = row
        store(.schedule(row, payload: payload))
    }

    mutating func dropSchedule(_ id: String) {
        guard schedules.removeValue(forKey: id) != nil else { return }
        firing[id] = nil
        store(.dropSchedule(id))
    }

    /// Pauses or resumes a schedule.
    ///
    /// Firings that were due meanwhile are left out. A firing that is under way makes its job.
    mutating func pauseSchedule(_ id: String, _ isPaused: Bool, wall: Int64) {
        guard let schedule = schedules[id], schedule.isPaused != isPaused else { return }
        schedules[id]?.isPaused = isPaused
        if schedule.attempts.retryAt != 0 { schedules[id]?.raiseAlert(schedule.attempts.alert) }
        if !isPaused, firing[id] == nil {
            schedules[id]?.next = schedule.next(after: wall)
            if schedule.next <= wall {
                let trouble = Trouble(cause: "paused", detail: "the schedule was paused")
                record(id, at: wall, due: schedule.next, by: .rule, .skipped, trouble: trouble)
            }
        }
        if let row = schedules[id] { store(.schedule(row, payload: nil)) }
    }

    /// Fires the due schedules, after correcting times that were set by a clock that was ahead.
    ///
    /// An instant that was already fired creates no second job: its request id is known. Firings that were missed while
    /// the coordinator was down run once. A firing is skipped while the schedule's last job is still running.
    mutating func fireSchedules(wall: Int64) {
        for id in schedules.keys.sorted() where firing[id] == nil {
            guard let schedule = schedules[id], !schedule.isPaused else { continue }
            if isAhead(schedule, of: wall) {
                schedules[id]?.next = min(schedule.next, schedule.next(after: wall))
                if schedule.isRetryAhead(of: wall) { schedules[id]?.attempts.retryAt = Schedule.Attempts.asked }
                if let row = schedules[id] { store(.schedule(row, payload: nil)) }
            }
            if schedule.next <= wall {
                fireByRule(id, schedule, wall: wall)
            } else {
                fireAgain(id, wall: wall)
            }
        }
    }

    /// The submission of a schedule was refused.
    mutating func fireFailed(_ id: String, wall: Int64, trouble: Trouble, retriable: Bool) {
        guard let due = firing.removeValue(forKey: id), let schedule = schedules[id] else { return }
        guard !retriable else {
            if schedules[id]?.trouble != trouble {
                schedules[id]?.trouble = trouble
                if let row = schedules[id] { store(.schedule(row, payload: nil)) }
            }
            return
        }
        guard schedule.isAwaiting(due) else { return }
        schedules[id]?.trouble = trouble
        record(id, at: wall, due: due, by: schedule.trigger(of: due), .failed, trouble: trouble)
        if due == schedule.next { skip(id, wall: wall) }
        attemptFailed(id, "\(trouble.cause): \(trouble.detail)", wall: wall)
    }

    /// A run by hand made no job: that is a row of the history, and no attempt of a firing.
    mutating func runFailed(_ id: String, wall: Int64, trouble: Trouble) {
        guard schedules[id] != nil else { return }
        schedules[id]?.trouble = trouble
        record(id, at: wall, due: 0, by: .hand, .failed, trouble: trouble)
        if let row = schedules[id] { store(.schedule(row, payload: nil)) }
    }

    /// The source of a schedule has no new build: the firing ends without a job.
    mutating func fireUnchanged(_ id: String, wall: Int64, build: String) {
        guard let due = firing.removeValue(forKey: id), let schedule = schedules[id], schedule.isAwaiting(due) else {
            return
        }
        record(id, at: wall, due: due, by: schedule.trigger(of: due), .unchanged, build: build)
        schedules[id]?.endAttempts()
        schedules[id]?.unchanged += 1
        schedules[id]?.unchangedAt = wall
        schedules[id]?.trouble = nil
        if due == schedule.next { schedules[id]?.next = schedule.next(after: max(wall, schedule.next)) }
        if let row = schedules[id] { store(.schedule(row, payload: nil)) }
    }

    /// Records the job of a firing, in the same transaction as the job itself.
    mutating func recordFiring(_ firing: Firing?, job: JobID) {
        guard let firing, let schedule = schedules[firing.schedule] else { return }
        let trigger = schedule.trigger(of: firing.due)
        record(
            firing.schedule, at: firing.wall, due: firing.due ?? 0, by: trigger, .running, job: job, build: firing.build
        )
        if trigger != .retry { schedules[firing.schedule]?.endAttempts() }
        // What is being prepared would be a second job at the same time.
        self.firing[firing.schedule] = nil
        schedules[firing.schedule]?.lastJob = job
        schedules[firing.schedule]?.fired += 1
        schedules[firing.schedule]?.unchangedAt = 0
        schedules[firing.schedule]?.trouble = nil
        setNextFiring(after: firing)
    }

    /// Ends a firing that was due, and sets the schedule to its next one.
    mutating func setNextFiring(after firing: Firing) {
        if let due = firing.due, let schedule = schedules[firing.schedule] {
            if schedule.next <= due { schedules[firing.schedule]?.next = schedule.next(after: max(firing.wall, due)) }
            if schedule.attempts.retryAt == due { schedules[firing.schedule]?.attempts.retryAt = 0 }
            self.firing[firing.schedule] = nil
        }
        if let row = schedules[firing.schedule] { store(.schedule(row, payload: nil)) }
    }

    mutating func skip(_ id: String, wall: Int64) {
        guard let schedule = schedules[id] else { return }
        schedules[id]?.skipped += 1
        schedules[id]?.next = schedule.next(after: max(wall, schedule.next))
        if let row = schedules[id] { store(.schedule(row, payload: nil)) }
    }
}
