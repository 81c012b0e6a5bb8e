/// The limits and intervals of the protocol.
///
/// Times are milliseconds.
public struct SchedulerPolicy: Hashable, Sendable {
    /// The interval of a worker's reports.
    public var heartbeat: Int64 = 5_000
    /// A session that was silent for this many heartbeats gets no offers until its next message.
    public static let missedHeartbeats: Int64 = 3
    /// A lease ends this long after the last progress that renewed it.
    public var lease: Int64 = 60_000
    /// A fetch whose counters do not change for this long is no longer renewed.
    public static let stall: Int64 = 120_000
    /// The same for a merge, whose single SQLite steps are longer.
    public static let mergeStall: Int64 = 600_000
    /// No attempt lasts longer than this plus `capPerTile` for each of its tiles.
    public static let hardCap: Int64 = 1_800_000
    /// Lets a batch of 5,000 tiles finish at an origin that allows one request in four seconds.
    public var capPerTile: Int64 = 4_000
    /// Leases found after a restart live at least this long, so that their workers can reconnect.
    public var restartGrace: Int64 = 60_000
    /// Whether every worker of an earlier run has ended.
    ///
    /// Then leases found after a restart are free at once and count as no loss, and no shares are held.
    public var hasNewWorkers = false
    /// A session that was silent this long and has no leases is forgotten.
    public static let forgetSession: Int64 = 600_000
    /// Attempts with a reported failure before the work is dead.
    public var maxAttempts: UInt8 = 5
    /// Leases that expired without a report before the work is dead.
    ///
    /// More are allowed than reported failures, because silence is weaker evidence against the work.
    public var maxLosses: UInt8 = 10
    /// Attempts with failed tiles of a retriable cause before a batch is accepted with its failures named.
    public static let attemptsForTiles: UInt8 = 3
    /// First backoff; doubles with each attempt.
    public static let backoffBase: Int64 = 2_000
    /// Largest backoff.
    public var backoffCap: Int64 = 120_000
    /// Largest backoff of the coordinator's own steps, such as a publication while the catalog's disk is full.
    ///
    /// Short, because an attempt costs other components nothing, and an operator who has freed space may be waiting.
    public static let ownBackoffCap: Int64 = 5_000
    /// Shortest wait of throttled work.
    ///
    /// Throttling costs no attempt, so only time limits it.
    public static let throttledBase: Int64 = 5_000
    /// Largest jitter added to that.
    public static let throttledSpread: Int64 = 25_000
    /// Number of batches of one job that are split when they fail completely.
    ///
    /// Further ones become dead as a whole.
    ///
    /// Limits rows and requests when a whole origin fails: each split adds four or five batches.
    public var maxCuts: Int = 500
    /// Number of failed jobs that keep batches and blobs for a retry.
    ///
    /// Older ones release them.
    public var keptFailedJobs: Int = 10
    /// No younger lease gets a speculative lease.
    public static let speculativeAge: Int64 = 60_000
    /// Near the end of a job a lease gets a speculative lease when it is older than this multiple of the median batch
    /// duration.
    public static let speculativeFactor: Int64 = 3
    /// Interval between two checks for such leases.
    public static let speculativeInterval: Int64 = 1_000
    /// How long a worker gets no offers after its own disk or store failed.
    public static let localFailurePause: Int64 = 10_000
    /// Largest number of failures listed per job.
    ///
    /// Their count is always exact.
    public static let listedFailures: Int = 10_000
    /// Number of leases that ended without a result, beyond two per batch, whose late commits are still assigned to
    /// their job.
    public var rememberedLosses: Int = 10_000
    /// Largest number of shards named as sources in one offer.
    public var maxSources = 256
    /// Largest number of ended jobs of one tileset whose shards are kept for unfinished ones.
    ///
    /// The oldest are released first.
    public static let maxShardSources = 256
    /// Largest number of bytes of shards that finished jobs keep for rebuilds; 0 = none.
    public var baselineBytes: UInt64 = 0
    /// Largest number of such jobs.
    public static let maxBaselines = 100
    /// Such a job is remembered until this many newer jobs exist, because its position blocks the memory of newer ones.
    public var baselineAge: UInt64 = 20_000
    /// Largest number of shards of previous builds named in one offer.
    public static let maxBases = 64
    /// A job whose first tiles fail without a single success is ended after this number of tiles.
    public static let hopelessTiles: UInt64 = 1_000
    /// Rate limiting across the cluster.
    public var rates = RatePolicy()

    /// The defaults above.
    public init() {}

    /// Milliseconds to wait before attempt `attempt + 1`: full jitter, a value from 0 to an exponentially growing
    /// bound.
    ///
    /// The jitter is a hash of the work's name, so a replay waits for the same time. Full jitter spreads retries that
    /// failed at the same time.
    ///
    /// - Parameter salt: Distinguishes waits of equal attempts.
    func backoff(job: JobID, index: Int, attempt: UInt8, salt: UInt64 = 0) -> Int64 {
        let doublings = Int64(min(max(attempt, 1) - 1, 20))
        return jitter(
            min(Self.backoffBase << doublings, backoffCap), job: job, index: index, salt: UInt64(attempt) &+ salt << 8)
    }

    /// Milliseconds to wait when the origin asked to wait: full jitter, but never zero.
    func throttledWait(job: JobID, index: Int, salt: UInt64) -> Int64 {
        Self.throttledBase + jitter(Self.throttledSpread, job: job, index: index, salt: salt)
    }

    /// A number from 0 to `bound`.
    private func jitter(_ bound: Int64, job: JobID, index: Int, salt: UInt64) -> Int64 {
        var hash =
            job.rawValue &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(truncatingIfNeeded: index) &* 0xBF58_476D_1CE4_E5B9 ^ salt
        for factor in [0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB] as [UInt64] {
            hash = (hash ^ (hash >> 30)) &* factor
            hash ^= hash >> 31
        }
        return Int64(hash % UInt64(max(bound, 0) + 1))
    }
}
