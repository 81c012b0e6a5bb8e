import Errors
import MetricsFormat
import Scheduling

/// What the loop has counted since the start of this process; no count falls.
struct LoopCounters: Sendable {
    private(set) var storedTiles: UInt64 = 0
    private(set) var emptyTiles: UInt64 = 0
    private(set) var failedTiles: UInt64 = 0
    private(set) var batches: UInt64 = 0
    private(set) var bodyBytes: UInt64 = 0
    /// Batches that were given up.
    private(set) var deadBatches: [FailureCause: UInt64] = [:]
    /// Failed tiles that accepted results name.
    private(set) var namedTiles: [FailureCause: UInt64] = [:]
    private(set) var published: UInt64 = 0
    private(set) var unchanged: UInt64 = 0
    private(set) var unpublished: UInt64 = 0
    /// Steps after jobs.
    private(set) var stepsDone: UInt64 = 0
    /// Their attempts that failed.
    private(set) var stepsFailed: UInt64 = 0
    private(set) var fired: UInt64 = 0
    private(set) var skipped: UInt64 = 0
    /// Runs of schedules that found no new build.
    private(set) var withoutBuild: UInt64 = 0
    private(set) var writes: UInt64 = 0
    private(set) var controlFrames: UInt64 = 0
    private(set) var workFrames: UInt64 = 0
    private(set) var transactions = Histogram()
    private(set) var ticks = Histogram()
    private(set) var waits = LongestWait()
    /// The number of the last line of the event log, as far as known.
    private(set) var lastEvent: Int64 = 0
    /// The counts of each schedule, from which the next ones are subtracted.
    private var schedules: [String: (fired: UInt64, skipped: UInt64, unchanged: UInt64)] = [:]

    /// Starts with the schedules and the last line of the log that the state file has.
    mutating func begin(_ known: [Schedule], lastEvent: Int64) {
        for schedule in known { schedules[schedule.id] = (schedule.fired, schedule.skipped, schedule.unchanged) }
        self.lastEvent = lastEvent
    }

    /// Counts a change of the state.
    mutating func record(_ write: StoreWrite) {
        writes += 1
        switch write {
        case .batch(_, _, let batch): record(batch)
        case .failures(_, _, let tiles):
            for failed in tiles { namedTiles[FailureCause(named: failed.trouble.cause), default: 0] += 1 }
        case .schedule(let schedule, _):
            let counts = (schedule.fired, schedule.skipped, schedule.unchanged)
            let before = schedules.updateValue(counts, forKey: schedule.id)
            fired += schedule.fired - min(before?.fired ?? schedule.fired, schedule.fired)
            skipped += schedule.skipped - min(before?.skipped ?? schedule.skipped, schedule.skipped)
            withoutBuild += schedule.unchanged - min(before?.unchanged ?? schedule.unchanged, schedule.unchanged)
        case .dropSchedule(let id): schedules[id] = nil
        case .step(let step):
            if step.state == .done { stepsDone += 1 }
            if step.state == .failed || step.state == .waiting && step.attempts > 0 { stepsFailed += 1 }
        case .insertJob, .job, .forget, .addBatches, .reopen, .resetBatches, .dropped, .originLimit, .originBlocked,
            .package, .orphan, .firing:
            break
        }
    }

    /// A row is written when a batch is accepted or given up, and once more when its failed work is dropped.
    private mutating func record(_ batch: Batch) {
        let cause = batch.trouble.map { FailureCause(named: $0.cause) }
        guard cause != .dropped else { return }
        switch batch.state {
        case .done:
            batches += 1
            storedTiles &+= batch.result.stored
            emptyTiles &+= batch.result.empty
            failedTiles &+= batch.result.failed
            bodyBytes &+= batch.result.bodyBytes
        case .dead: deadBatches[cause ?? .unknown, default: 0] += 1
        case .ready, .leased, .backoff, .split: break
        }
    }

    /// Counts the result of a publication; other events are no results.
    mutating func recordPublication(_ event: Event) {
        switch event {
        case .published(_, _, _, _, let isUnchanged): if isUnchanged { unchanged += 1 } else { published += 1 }
        case .packageTrouble: unpublished += 1
        default: break
        }
    }

    /// Counts a received message.
    mutating func recordFrame(isControl: Bool) { if isControl { controlFrames += 1 } else { workFrames += 1 } }

    /// Counts a tick.
    mutating func recordTick(_ duration: Duration) { ticks.add(duration / .seconds(1)) }

    /// Counts a transaction.
    ///
    /// - Parameter lastEvent: The number of the line that it wrote last; `nil` when it wrote none.
    mutating func recordTransaction(_ duration: Duration, lastEvent: Int64?) {
        transactions.add(duration / .seconds(1))
        self.lastEvent = max(self.lastEvent, lastEvent ?? 0)
    }

    /// Keeps the time in which the loop read no messages.
    mutating func recordWait(_ duration: Duration, now: Tick) { waits.add(duration, now: now) }
}

/// The longest time of the current minute and of the one before.
struct LongestWait: Sendable {
    private var minute: Int64 = 0
    private var current = Duration.zero
    private var previous = Duration.zero

    mutating func add(_ duration: Duration, now: Tick) {
        let minute = now.milliseconds / 60_000
        if minute != self.minute {
            previous = minute == self.minute + 1 ? current : .zero
            current = .zero
            self.minute = minute
        }
        current = max(current, duration)
    }

    /// Its length.
    var longest: Duration { max(current, previous) }
}
