/// The numbers of the protocol.
///
/// Times are milliseconds.
public struct SchedulerPolicy: Hashable, Sendable {
    /// How often a worker reports (docs/formats/wire.md, "Liveness").
    public var heartbeat: Int64 = 5_000
    /// A session silent for this many heartbeats gets no offers until it is heard again.
    public var missedHeartbeats: Int64 = 3
    /// A lease ends this long after the last progress that renewed it.
    public var lease: Int64 = 60_000
    /// A fetch whose counters stand still this long is no longer renewed.
    public var stall: Int64 = 120_000
    /// The same for a merge, whose single SQLite steps are longer.
    public var mergeStall: Int64 = 600_000
    /// No attempt lives longer than this plus `capPerTile` for each of its tiles.
    public var hardCap: Int64 = 1_800_000
    /// Lets a batch of 5,000 tiles finish at an origin that allows one request in four seconds.
    public var capPerTile: Int64 = 4_000
    /// Leases found after a restart live at least this long, so that their workers can come back for them.
    public var restartGrace: Int64 = 60_000
    /// Whether every worker of an earlier run has ended: leases found after a restart are free at once and count as no loss, and no shares are out.
    public var hasNewWorkers = false
    /// A session silent this long, without leases, is forgotten.
    public var forgetSession: Int64 = 600_000
    /// Attempts that ended with a report of failure before the work is dead.
    public var maxAttempts: UInt8 = 5
    /// Leases that ended in silence before the work is dead: weaker evidence against the work than a report, so more of them.
    public var maxLosses: UInt8 = 10
    /// Attempts with failed tiles of a retriable cause before a batch is accepted with its failures named.
    public var attemptsForTiles: UInt8 = 3
    /// First backoff; doubles with each attempt.
    public var backoffBase: Int64 = 2_000
    /// Largest backoff.
    public var backoffCap: Int64 = 120_000
    /// Largest backoff of what the coordinator does by itself, such as a publication while the catalog's disk is full.
    ///
    /// An attempt costs nobody else anything, and somebody may be waiting who has just made space.
    public var ownBackoffCap: Int64 = 5_000
    /// Shortest wait of work that was throttled: it costs no attempt, so nothing but time bounds it.
    public var throttledBase: Int64 = 5_000
    /// What jitter adds to that at most.
    public var throttledSpread: Int64 = 25_000
    /// Batches of one job that are cut when they fail as a whole; those after them die as a whole.
    ///
    /// Bounds rows and requests when a whole origin is bad: each cut adds four or five batches.
    public var mostCuts: Int = 500
    /// Failed jobs that keep batches and blobs for a retry; older ones let go of them.
    public var keptFailedJobs: Int = 10
    /// No lease younger than this gets a backup.
    public var backupAge: Int64 = 60_000
    /// Near the end of a job a lease gets a backup when it is older than this many times what batches took.
    public var backupFactor: Int64 = 3
    /// Between two looks for such leases.
    public var backupPause: Int64 = 1_000
    /// A worker whose own disk or store failed gets no offers for this long.
    public var rest: Int64 = 10_000
    /// Most failures listed per job; their number is always exact.
    public var listedFailures: Int = 10_000
    /// Leases that ended without a result, beyond two per batch, whose late commits are still traced to their job.
    public var rememberedLosses: Int = 10_000
    /// Most shards named as sources in one offer.
    public var mostSources = 256
    /// Most ended jobs of one tileset whose shards are kept for unfinished ones; the oldest go first.
    public var mostDonors = 256
    /// Most bytes of shards that jobs which are done keep for rebuilds; 0 = none is kept.
    public var baselineBytes: UInt64 = 0
    /// Most such jobs.
    public var mostBaselines = 100
    /// Such a job is remembered although it is old, until this many newer ones have come: its place holds theirs.
    public var baselineAge: UInt64 = 20_000
    /// Most shards of earlier builds named in one offer.
    public var mostBases = 64
    /// A job whose first tiles fail without a single success is ended after this many.
    public var hopelessTiles: UInt64 = 1_000
    /// Politeness across the cluster.
    public var rates = RatePolicy()

    /// The defaults above.
    public init() {}

    /// Milliseconds to wait before attempt `attempt + 1`: full jitter, anything from 0 to an exponentially growing bound.
    ///
    /// The jitter is a hash of the work's name, so a replay waits alike.
    ///
    /// - Parameter salt: Tells waits of equal attempts apart.
    func backoff(job: JobID, index: Int, attempt: UInt8, salt: UInt64 = 0) -> Int64 {
        let doublings = Int64(min(max(attempt, 1) - 1, 20))
        return jitter(min(backoffBase << doublings, backoffCap), job, index, UInt64(attempt) &+ salt << 8)
    }

    /// Milliseconds to wait when the origin asked to wait: full jitter, but never nothing.
    func throttledWait(job: JobID, index: Int, salt: UInt64) -> Int64 {
        throttledBase + jitter(throttledSpread, job, index, salt)
    }

    /// A number from 0 to `bound`.
    private func jitter(_ bound: Int64, _ job: JobID, _ index: Int, _ salt: UInt64) -> Int64 {
        var hash =
            job &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(truncatingIfNeeded: index) &* 0xBF58_476D_1CE4_E5B9 ^ salt
        for factor in [0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB] as [UInt64] {
            hash = (hash ^ (hash >> 30)) &* factor
            hash ^= hash >> 31
        }
        return Int64(hash % UInt64(max(bound, 0) + 1))
    }
}
