import Files
import MetricsFormat
import Scheduling

/// What the page of metrics shows: made by the loop, read by any thread.
struct MetricsSnapshot: Sendable {
    /// An origin with a series of its own.
    struct Origin: Sendable {
        let name: String
        let counts: OriginCounts
        /// `nil` when no unfinished job uses it.
        let view: OriginView?
    }

    /// The folders whose disks are watched.
    enum Folder: Hashable, Sendable {
        case state, blobs
        case catalog(_ name: String)
    }

    var totals = SchedulerTotals()
    var counters = LoopCounters()
    var origins: [Origin] = []
    var otherOrigins = OriginCounts()
    /// Origins by state.
    var originStates: [String: Int] = [:]
    /// Milliseconds since the oldest unfinished job was submitted.
    var oldestJob: Int64 = 0
    /// The longest time without progress of a free job, in milliseconds.
    var longestIdle: Int64 = 0
    var schedules = 0
    /// Schedules whose last run made no job, or whose last job failed.
    var failingSchedules = 0
    /// Milliseconds since the oldest day of data among the builds of the schedules' last jobs; `nil` = none has a date.
    var dataAge: Int64?
    /// Milliseconds since the oldest notification that waits; 0 = none waits.
    var notificationWait: Int64 = 0
    /// Milliseconds since the newest backup; `nil` = no backup exists.
    var backupAge: Int64?
    /// Milliseconds since the newest automatic backup, before the first one since the start; `nil` = none are made.
    var stateBackupAge: Int64?
    var spaces: [Folder: DiskSpace] = [:]
    /// `nil` while they are not counted, and for a bucket.
    var blobs: BlobUsage?
    var epoch: UInt32 = 0
    var isDegraded = false
    var plansWaiting = 0
    /// The times of the snapshots before this one.
    var costs = Histogram()
}
