import Scheduling

extension CoordinatorOptions {
    /// The scheduler's limits and intervals under these options.
    var policy: SchedulerPolicy {
        var policy = SchedulerPolicy()
        policy.lease = Int64(max(leaseSeconds, 0.1) * 1_000)
        policy.heartbeat = Int64(max(heartbeatSeconds, 0.05) * 1_000)
        policy.restartGrace = Int64(max(restartGraceSeconds, 0) * 1_000)
        policy.hasNewWorkers = hasNewWorkers
        policy.baselineBytes = keptTileBytes
        return policy
    }
}
