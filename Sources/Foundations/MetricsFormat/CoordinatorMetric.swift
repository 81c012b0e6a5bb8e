internal import Errors

/// What a coordinator serves.
package enum CoordinatorMetric: String, MetricTable {
    // Jobs
    case jobs
    case jobsWaiting = "jobs_waiting"
    case oldestOpenJob = "open_job_oldest_seconds"
    case longestIdleJob = "open_job_idle_seconds_max"
    case jobTiles = "job_tiles"
    case jobBatches = "job_batches"
    case acceptedTiles = "accepted_tiles_total"
    case acceptedBatches = "accepted_batches_total"
    case acceptedBytes = "accepted_body_bytes_total"
    case failedBatches = "failed_batches_total"
    case failedTiles = "failed_tiles_total"
    case publications = "publications_total"
    case steps = "job_steps_total"
    case schedules
    case schedulesFired = "schedules_fired_total"
    case schedulesSkipped = "schedules_skipped_total"
    case schedulesUnchanged = "schedules_unchanged_total"
    case schedulesFailing = "schedules_failing"
    case scheduleDataAge = "schedule_data_age_seconds_max"
    case notificationsWaiting = "notifications_waiting_seconds"
    case backupAge = "backup_age_seconds"
    case stateBackupAge = "state_backup_age_seconds"
    // Workers
    case workers
    case workerLeases = "worker_leases"
    case workerCredit = "worker_credit"
    case longestSilence = "worker_silent_seconds_max"
    // Origins
    case origins
    case originRequests = "origin_requests_total"
    case originThrottled = "origin_throttled_total"
    case originFailed = "origin_failed_total"
    case originFactor = "origin_factor_ratio"
    case originBlocked = "origin_blocked_seconds"
    case originGranted = "origin_granted_per_second"
    // Disks
    case freeSpace = "disk_free_bytes"
    case diskSize = "disk_size_bytes"
    case blobBytes = "blob_store_bytes"
    case blobCount = "blob_store_blobs"
    case keptTileBytes = "kept_tile_bytes"
    // The loop
    case epoch = "coordinator_epoch"
    case isDegraded = "coordinator_degraded"
    case lastEvent = "coordinator_event_sequence"
    case frames = "coordinator_frames_total"
    case tick = "coordinator_tick_seconds"
    case longestWait = "coordinator_longest_wait_seconds"
    case transactions = "coordinator_transaction_seconds"
    case writes = "coordinator_writes_total"
    case plansWaiting = "coordinator_plans_waiting"
    case snapshot = "coordinator_snapshot_seconds"
    case snapshotAge = "coordinator_snapshot_age_seconds"

    private static let causes = MetricFamily.Label.closed("cause", FailureCause.allCases.map(\.rawValue))
    private static let origin = MetricFamily.Label.bounded("origin", "the 50 busiest origins, `other` for the rest")
    private static let folder = MetricFamily.Label.closed("folder", ["state", "blobs", "catalog"])

    package var family: MetricFamily {
        switch self {
        case .jobs:
            .gauge(
                "Jobs that the coordinator remembers",
                .closed("state", ["fetching", "merging", "publishing", "done", "failed", "cancelled"]))
        case .jobsWaiting:
            .gauge(
                "Unfinished jobs that wait: paused by an order, for another job, for an origin, for a worker",
                .closed("reason", ["order", "job", "origin", "worker"]))
        case .oldestOpenJob: .gauge("Time since the oldest unfinished job was submitted")
        case .longestIdleJob:
            .gauge(
                "Longest time without progress of an unfinished job that is not paused and waits for no other job")
        case .jobTiles:
            .gauge(
                "Tiles of unfinished jobs", .closed("state", ["waiting", "in-flight", "stored", "empty", "failed"]))
        case .jobBatches:
            .gauge(
                "Batches of unfinished jobs, without those that were split",
                .closed("state", ["ready", "leased", "backoff", "done", "failed"]))
        case .acceptedTiles:
            .counter("Tiles of accepted results", .closed("result", ["stored", "empty", "failed"]))
        case .acceptedBatches: .counter("Accepted results of batches")
        case .acceptedBytes: .counter("Body bytes of accepted results")
        case .failedBatches: .counter("Batches that were given up", Self.causes)
        case .failedTiles: .counter("Failed tiles that accepted results name", Self.causes)
        case .publications:
            .counter("Publications of packages", .closed("result", ["published", "unchanged", "failed"]))
        case .steps:
            .counter("Steps after jobs, each attempt that failed counted", .closed("result", ["done", "failed"]))
        case .schedules: .gauge("Schedules")
        case .schedulesFired: .counter("Jobs made by schedules")
        case .schedulesSkipped: .counter("Runs of schedules that made no job")
        case .schedulesUnchanged: .counter("Runs of schedules that found no new build of their source")
        case .scheduleDataAge:
            .gauge("Age of the oldest data in the builds of which schedules made their last jobs; absent without dates")
        case .schedulesFailing: .gauge("Schedules whose last run made no job, or whose last job failed")
        case .notificationsWaiting:
            .gauge("Age of the oldest notification that a receiver has not taken after a failed request, else 0")
        case .backupAge: .gauge("Age of the newest backup in the data folder; absent without one")
        case .stateBackupAge:
            .gauge("Age of the newest backup that the coordinator made by itself (--backup-every); absent without them")
        case .workers:
            .gauge("Known workers", .closed("state", ["ready", "busy", "draining", "resting", "full", "suspect"]))
        case .workerLeases: .gauge("Leases that workers hold")
        case .workerCredit: .gauge("Offers that workers can take in addition")
        case .longestSilence: .gauge("Longest time without a message from a known worker")
        case .origins:
            .gauge(
                "Origins of unfinished jobs, and those with an operator's limit",
                .closed("state", ["open", "slowed", "blocked", "broken", "probing", "learning", "unused"]))
        case .originRequests: .counter("Requests that workers reported", Self.origin)
        case .originThrottled: .counter("Requests that origins throttled, as workers reported", Self.origin)
        case .originFailed: .counter("Requests that failed, as workers reported", Self.origin)
        case .originFactor: .gauge("Share of its limits that an origin accepts", Self.origin)
        case .originBlocked: .gauge("Time until requests to an origin are allowed again", Self.origin)
        case .originGranted: .gauge("Requests per second granted to workers; absent without a limit", Self.origin)
        case .freeSpace: .gauge("Free space on the disk of a folder", Self.folder)
        case .diskSize: .gauge("Size of the disk of a folder", Self.folder)
        case .blobBytes: .gauge("Bytes of the blobs in the blob folder, counted every minute or less often")
        case .blobCount: .gauge("Blobs in the blob folder")
        case .keptTileBytes: .gauge("Bytes of the shards that finished jobs keep for rebuilds")
        case .epoch: .gauge("Number of the coordinator's start")
        case .isDegraded: .gauge("Whether the state file cannot be written")
        case .lastEvent: .gauge("Number of the last line of the event log")
        case .frames: .counter("Received messages", .closed("endpoint", ["control", "work"]))
        case .tick: .histogram("Time of a tick of the loop")
        case .longestWait: .gauge("Longest time in the last one to two minutes in which the loop read no messages")
        case .transactions: .histogram("Time of a transaction of the state file")
        case .writes: .counter("Changes of the state")
        case .plansWaiting: .gauge("Submissions whose plan is not made")
        case .snapshot: .histogram("Time in which the loop made a snapshot for this page")
        case .snapshotAge: .gauge("Age of the snapshot that this page shows")
        }
    }
}
