import DequeModule
import Digests
import HeapModule
import Tiles

/// The rules of jobs, batches, leases, credits, merging and publishing as one value: `(state, event, now) → effects`.
///
/// No clock, no I/O, no randomness; nothing depends on hash order. Each event costs O(log n) in batches and sessions,
/// except the few that affect a whole job (submit, end). Invariants: ready + leased + backoff + done + dead + split =
/// batches of the job; a batch has at most one live lease in addition to a speculative one; a commit is accepted only
/// under the current token, so exactly once; tokens strictly rise.
public struct Scheduler: Sendable {
    /// The limits and intervals of the protocol.
    public let policy: SchedulerPolicy
    /// The epoch of this coordinator run; durable before the first event.
    public let epoch: UInt32

    var counter: UInt32 = 0
    var lastJob: JobID
    var jobs = JobTable()
    /// Ended jobs in the order of their ends.
    var finished: Deque<JobID> = []
    /// Failed jobs that keep their blobs, in the order of their ends.
    var kept: Deque<JobID> = []
    var places: [JobID: JobPlace] = [:]
    var schedules: [String: Schedule] = [:]
    /// Schedules whose submission is being processed, and when that was due.
    var firing: [String: Int64] = [:]
    var requests: [String: JobID] = [:]
    var sessions: [SessionID: Session] = [:]
    var leases: [LeaseToken: Lease] = [:]
    /// Work of ended leases: accepted ones, and lost ones of unfinished jobs.
    var ended: [LeaseToken: WorkRef] = [:]
    /// Leases found in the store, by the session that held them, until that session sends hello.
    var unclaimed: [SessionID: [LeaseToken]] = [:]

    /// Speculative leases, by their batch.
    var speculativeLeases: [WorkRef: LeaseToken] = [:]
    /// When to check again for batches that need a speculative lease.
    var nextSpeculation = Tick(milliseconds: .min)
    /// Unfinished jobs by the tileset they share, ascending.
    var sharing: [Digest: [JobPlace]] = [:]
    /// Ended jobs whose shards unfinished ones may use, by tileset, in the order of their ends.
    var shardSources: [Digest: [ShardSource]] = [:]
    /// Finished jobs that keep their shards for rebuilds.
    var baselines = BaselineBook()
    /// Packages in the catalog by the manifest they were made from.
    var made: [Digest: WorkRef] = [:]
    /// Manifests that are being written, by their package.
    var writing: [WorkRef: ManifestWrite] = [:]
    /// Batches that wait until another job's batch is no longer being fetched.
    var parked: [WorkRef: [WorkRef]] = [:]

    var alarms: Heap<Alarm> = []
    var alarmCount: UInt64 = 0
    var fetchQueue: Heap<FetchQueueEntry> = []
    /// Packages that wait for a merger, by what it must have.
    var mergeQueues: [MergeNeeds: Heap<MergeQueueEntry>] = [:]
    var fetchers: Deque<SessionID> = []
    /// Sessions that can merge now, by what they have.
    var mergers: [MergeNeeds: Deque<SessionID>] = [:]
    var virtualTime: UInt64 = 0
    /// The budgets of origins.
    var rates: RateLedger
    /// Jobs with ready batches for which no session may work now, by what they need.
    var idled: [FetchNeeds: Set<JobPlace>] = [:]
    var rateAlarm: Tick?
    /// The holders of shares that were last stored.
    var storedHolders: ShareHolders?
    var effects: [Effect] = []
    /// The first transition of a package that was illegal: an error of this module.
    var illegalTransition: String?

    /// An empty scheduler, or one that continues from a store.
    ///
    /// - Parameters:
    ///   - jobs: The stored jobs by ascending id.
    ///   - lastJob: The highest id that was ever used, if it is not that of the last stored job.
    ///   - operatorLimits: The operators' limits for origins.
    ///   - holders: The last ``Effect/holders(_:)`` of the previous run; `nil` = unknown.
    ///   - now: Leases found in the store live at least until `now` + ``SchedulerPolicy/restartGrace``.
    public init(
        policy: SchedulerPolicy = SchedulerPolicy(), epoch: UInt32, jobs stored: [StoredJob] = [], lastJob: JobID = 0,
        schedules: [Schedule] = [], operatorLimits: OperatorLimits = [:], holders: ShareHolders? = nil, now: Tick
    ) {
        self.policy = policy
        self.epoch = epoch
        // Workers that have ended hold no shares.
        let holders = policy.hasNewWorkers ? [:] : holders
        rates = RateLedger(policy.rates, epoch: epoch, holders: holders, operatorLimits: operatorLimits, now: now)
        self.lastJob = max(lastJob, stored.last?.summary.id ?? 0)
        self.schedules = Dictionary(schedules.map { ($0.id, $0) }) { $1 }
        for job in stored { restore(job, now: now) }
    }

    /// What must be done once after a start: unfinished manifests, publications and job ends of the previous run.
    public mutating func start(now: Tick) -> [Effect] {
        effects = []
        for job in jobs.indices where !jobs[job].summary.state.isFinal {
            for package in jobs[job].packages.indices { startNextStep(job, package: package) }
            advance(job, now: now)
        }
        if policy.hasNewWorkers { takeBackLeases(now: now) }
        adoptBaselines()
        updateFollowers(now: now)
        defer { effects = [] }
        return effects
    }

    /// Applies one event.
    public mutating func handle(_ event: Event, now: Tick) -> [Effect] {
        apply(event, now: now) + divideBudgets(now: now)
    }

    /// Applies one of several simultaneous events.
    ///
    /// Call ``divideBudgets(now:)`` after the last one to divide the budgets of origins.
    public mutating func apply(_ event: Event, now: Tick) -> [Effect] {
        effects = []
        switch event {
        case .submit(let submission): submit(submission, now: now)
        case .cancel(let id): cancel(id, now: now)
        case .remerge(let id, let payload): remerge(id, payload: payload, now: now)
        case .forget(let id): forget(id)
        case .order(let id, let order): carryOut(order, job: id, now: now)
        case .reopen(let id, let batches, let isKept, let needs, let only, let payload, let isApart, let mergesAll):
            if isApart, refusal(ofRetry: id) == nil { publishApart(id) }
            reopen(
                id, batches: batches, isKept: isKept, needs: needs, only: only, payload: payload, mergesAll: mergesAll,
                now: now)
        case .requeue(let id, let batches): requeue(id, batches: batches, now: now)
        case .drop(let id, let batches): drop(id, batches: batches, now: now)
        case .splitPlanned(let id, let batch, let parts):
            splitPlanned(id, batch: batch, parts: parts, now: now)
        case .putSchedule(let schedule, let payload): put(schedule, payload: payload)
        case .dropSchedule(let id): dropSchedule(id)
        case .pauseSchedule(let id, let isPaused, let wall): pauseSchedule(id, isPaused, wall: wall)
        case .openOrigin(let origin): rates.reopen(origin, now: now)
        case .limitOrigin(let origin, let limit): limitOrigin(origin, to: limit)
        case .wall(let wall): fireSchedules(wall: wall)
        case .fireFailed(let id, let wall, let trouble, let retriable):
            fireFailed(id, wall: wall, trouble: trouble, retriable: retriable)
        case .runFailed(let id, let wall, let trouble): runFailed(id, wall: wall, trouble: trouble)
        case .fireUnchanged(let id, let wall, let build): fireUnchanged(id, wall: wall, build: build)
        case .hello(let id, let profile, let held): hello(id, profile: profile, held: held, now: now)
        case .ready(let id, let credit, let mergeCredit, let full):
            ready(id, credit: credit, mergeCredit: mergeCredit, full: full, now: now)
        case .progress(let id, let reports, let uses, let acknowledged, let namesHeld):
            report(id, uses: uses, acknowledged: acknowledged, namesHeld: namesHeld, now: now)
            progress(id, reports: reports, now: now)
        case .commit(let id, let token, let result): commit(id, token: token, result: result, now: now)
        case .refusedCommit(let id, let token, let trouble): refuse(id, token: token, trouble: trouble, now: now)
        case .fail(let id, let token, let trouble, let retriable, let lostShards):
            fail(id, token: token, trouble: trouble, retriable: retriable, lostShards: lostShards, now: now)
        case .giveBack(let id, let tokens): giveBack(id, tokens: tokens, now: now)
        case .bye(let id): bye(id, now: now)
        case .drain(let id, let isOn): drain(id, isOn: isOn, now: now)
        case .undelivered(let id, let tokens): undelivered(id, tokens: tokens, now: now)
        case .manifestWritten(let id, let package, let digest, let decides):
            manifestWritten(id, package: package, manifest: digest, decides: decides, now: now)
        case .manifestFailed(let id, let package, let trouble, let retriable):
            if endManifest(id, package: package, wrote: nil) {
                packageTrouble(id, package: package, trouble: trouble, retriable: retriable, now: now)
            }
        case .published(let id, let package, let version, let path, let unchanged):
            published(id, package: package, version: version, path: path, unchanged: unchanged, now: now)
        case .packageTrouble(let id, let package, let trouble, let retriable):
            packageTrouble(id, package: package, trouble: trouble, retriable: retriable, now: now)
        case .blobSpaceShort: if let oldest = baselines.jobs.first { releaseBaseline(oldest) }
        case .timer: fireAlarms(now: now)
        case .loopStalled: renewAllLeases(now: now)
        }
        dispatch(now: now)
        defer { effects = [] }
        return effects
    }

    /// Divides the budgets that events have changed.
    ///
    /// Costs a few passes over the holders of each changed budget. So with a thousand workers it must not be called for
    /// every message of one of them.
    public mutating func divideBudgets(now: Tick) -> [Effect] {
        effects = []
        sendChangedShares(now: now)
        defer { effects = [] }
        return effects
    }

    /// When ``Event/timer`` must be sent next; `nil` = not before another event.
    public var nextAlarm: Tick? { alarms.min?.due }

    // MARK: - Shared small steps

    mutating func store(_ write: StoreWrite) { effects.append(.store(write)) }
    mutating func send(_ message: Outgoing, to id: SessionID) { effects.append(.send(id, message)) }

    mutating func setAlarm(_ subject: Alarm.Subject, at due: Tick) {
        alarmCount += 1
        alarms.insert(Alarm(due: due, order: alarmCount, subject: subject))
    }

    mutating func storeBatch(_ job: JobPlace, batch index: BatchIndex) {
        store(.batch(jobs[job].summary.id, index: index, jobs[job].batches[index]))
    }

    mutating func storePackage(_ job: JobPlace, package index: PackageIndex) {
        store(.package(jobs[job].summary.id, index: index, jobs[job].packages[index]))
    }

    mutating func storeJob(_ job: JobPlace) { store(.job(jobs[job].summary)) }

    /// The position of a job that has not ended and has this package, or `nil`.
    func living(_ id: JobID, package: PackageIndex) -> JobPlace? {
        guard let job = places[id], !jobs[job].summary.state.isFinal, jobs[job].packages.indices.contains(package)
        else { return nil }
        return job
    }
}
