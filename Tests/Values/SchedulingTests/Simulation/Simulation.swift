import Digests
import HeapModule
import Scheduling
import Tiles

/// A seeded world around the scheduler: clients, workers, network, disks, clocks, an origin, and a coordinator process.
///
/// Faults stop when the nemesis is done; then every job must end within ``patience``. What checks each invariant of
/// ARCHITECTURE.md:
///
/// | | checked | by |
/// |---|---|---|
/// | I1, I2 | every package put into the catalog against its shards and the mask, tile by tile and version by version | ``checkPublished(_:_:_:)`` |
/// | I3 | no catalog file is torn or damaged, at its link and after every power cut | ``checkPublished(_:_:_:)``, ``checkNamed(_:)`` |
/// | I4 | all jobs end within ``patience`` after the heal, or move on until they do | ``run()`` |
/// | I5 | one session a token, tokens rise, an accepted result was made under its token, done stays done | ``Checker``, ``note(_:to:)`` |
/// | I7 | the scheduler's audit, and rows against counts | ``hand(_:client:)``, ``checkMemory()`` |
/// | I8 | every acknowledgement received is in the store; named blobs outlive a power cut | ``checkAcknowledged(_:_:)`` |
/// | I9 | after the end and an idle restart no blob is left | ``verdict()`` |
/// | I10 | memory equals the store; the log replayed equals the store; a restored scheduler is consistent | ``checkMemory()``, ``verdict()`` |
/// | I11 | a small job that runs together with a big one ends within twice its solo time | `FairnessTests` |
/// | I12 | no request for a cancelled job by a worker that could know | ``observe(requestFor:by:)`` |
/// | I13 | a merge is offered only to a worker that writes all its formats | ``note(_:to:)`` |
/// | I14 | no published tile is older than its job, or the jobs that ran at the same time | ``checkPublished(_:_:_:stands:)`` |
/// | I16 | work of a job with labels is offered only to workers that have them all; a worker at a limit of its machine gets none | ``observe(_:to:)``, ``collect(_:client:)`` |
struct Simulation {
    enum Parcel {
        case toCoordinator(SimCoordinator.Letter)
        case toWorker(Int, SessionID, Outgoing)
        case toClient(SimCoordinator.Reply)
        case wake(Int)
        case coordinatorWake
        case report(SimCoordinator.Report, Int)
        case client(Int)
        case nemesis
    }
    struct Delivery: Comparable {
        let at: Int64
        let order: UInt64
        let parcel: Parcel
        static func < (left: Delivery, right: Delivery) -> Bool { (left.at, left.order) < (right.at, right.order) }
        static func == (left: Delivery, right: Delivery) -> Bool { left.order == right.order }
    }

    static let faults: Int64 = 240_000
    static let patience: Int64 = 900_000

    let seed: UInt64
    let mutant: Mutant?
    let swarm: Swarm
    let policy: SchedulerPolicy
    var netRandom: SeededRandom
    var faultRandom: SeededRandom
    var workRandom: SeededRandom
    var sessionRandom: SeededRandom

    var now: Int64 = 0
    var isHealed = false
    var mail: Heap<Delivery> = []
    var order: UInt64 = 0
    var nodes: [SimNode] = []
    var clients: [SimClient] = []
    var specs: [SimSpec] = []
    var blobs = SimBlobs()
    var origin: SimOrigin
    var store = SimStore()
    var catalog: [String: [Digest]] = [:]
    var coordinator: SimCoordinator?
    var coordinatorDownUntil: Int64 = 0
    var coordinatorTroubledAt: Int64 = -1
    var incarnation = 0
    /// When each order that stops requests was answered.
    var silenced: [JobID: Int64] = [:]
    var endedAt: [JobID: Int64] = [:]
    /// When a batch or a package was last finished.
    var progressedAt: Int64 = 0

    var checker = Checker()
    var marks = Marks()
    var crashes = 0
    var events = 0
    var handed = 0
    /// Audits cost a pass over all batches: every event is audited in small worlds, every seventh in large ones.
    var auditEvery = 1
    var trace = Fingerprint()
    /// The last events as text, if requested.
    var recording: [String]?

    init(seed: UInt64, mutant: Mutant? = nil, records: Bool = false, isQuiet: Bool = false) {
        self.seed = seed
        self.mutant = mutant
        var random = SeededRandom(state: seed &* 7_919 &+ 1)
        var swarmRandom = random.forked()
        swarm = isQuiet ? Swarm.quiet(&swarmRandom) : Swarm(&swarmRandom)
        netRandom = random.forked()
        faultRandom = random.forked()
        workRandom = random.forked()
        sessionRandom = random.forked()
        origin = SimOrigin(swarm, end: Simulation.faults, random: random.forked())
        var policy = SchedulerPolicy()
        policy.backoffCap = 20_000
        if !swarm.attemptsAreCounted { (policy.maxAttempts, policy.maxLosses) = (255, 255) }
        // Half of the worlds keep tiles; some of those have little disk space for them. This does not use the swarm's
        // random generator, so its other choices do not change.
        if seed % 2 == 1 { policy.baselineBytes = seed % 10 == 1 ? 20_000 : 1 << 40 }
        self.policy = policy
        recording = records ? [] : nil
    }

    /// Runs a world drawn from the seed to its end; the first problem, or `nil`.
    mutating func run() -> String? {
        var random = SeededRandom(state: seed &* 104_729 &+ 13)
        populate(&random)
        schedule(.nemesis, at: 500)
        return live()
    }

    /// Runs until all jobs have ended.
    mutating func live() -> String? {
        schedule(.coordinatorWake, at: 0)
        var end = Simulation.faults
        while checker.problems.isEmpty, let next = mail.popMin() {
            now = max(now, next.at)
            if !isHealed, now >= end || isSettled { heal() }
            if isHealed {
                if end == Simulation.faults { end = now + Simulation.patience }
                if isSettled { return finalVerdict() }
                // A world with slow workers and much work may take longer, as long as it moves on.
                let isMoving = now < progressedAt + Simulation.patience / 5 && now < end + 9 * Simulation.patience
                if now > end, !isMoving {
                    return describe("I4: not finished \(Simulation.patience) ms after the heal: \(standing)")
                }
            }
            events += 1
            trace.add(next.at)
            trace.add(next.order)
            open(next.parcel)
        }
        return checker.problems.first.map(describe) ?? describe("I4: nothing will ever happen again: \(standing)")
    }

    func describe(_ text: String) -> String { "\(text), at \(now) ms of seed \(seed)" }

    private mutating func open(_ parcel: Parcel) {
        switch parcel {
        case .toCoordinator(let letter):
            guard let inbox = coordinator?.inbox, inbox.count < 64 * nodes.count else { return }
            coordinator?.inbox.append(letter)
            wakeCoordinator(by: now + workRandom.below(Int64(5)))
        case .toWorker(let index, let session, let message): deliver(message, to: index, session)
        case .toClient(let reply): deliver(reply)
        case .wake(let index): wake(index)
        case .coordinatorWake: coordinatorTurn()
        case .report(let report, let owner): finish(report, owner)
        case .client(let index): ask(index)
        case .nemesis: if !isHealed { strike() }
        }
    }

    // MARK: - Ways

    mutating func schedule(_ parcel: Parcel, at time: Int64) {
        order += 1
        mail.insert(Delivery(at: max(time, now), order: order, parcel: parcel))
    }

    /// Sends something through the network and all its faults.
    mutating func post(_ parcel: Parcel, worker: Int?) {
        if !isHealed {
            if let worker {
                let isIn = if case .toWorker = parcel { true } else { false }
                if (isIn ? nodes[worker].deafUntil : nodes[worker].muteUntil) > now {
                    nodes[worker].troubledAt = max(nodes[worker].troubledAt, now)
                    return
                }
            }
            if netRandom.perMille(swarm.loss) {
                marks.hit(.lost)
                if let worker { nodes[worker].troubledAt = max(nodes[worker].troubledAt, now) }
                return
            }
            if netRandom.perMille(swarm.doubling) {
                marks.hit(.doubled)
                schedule(parcel, at: now + netRandom.within(swarm.delay) * 8)
            }
        }
        schedule(parcel, at: now + netRandom.within(swarm.delay))
    }

    // MARK: - Problems

    mutating func problem(_ text: String) {
        checker.problems.append(text)
        say("PROBLEM \(text)")
    }

    /// Adds a line to the record, if one is kept.
    mutating func say(_ text: String) {
        guard recording != nil else { return }
        recording?.append("\(now) \(text)")
        if (recording?.count ?? 0) > 100_000 { recording?.removeFirst(50_000) }
    }

    // MARK: - Names

    func specIndex(of job: JobID) -> Int? {
        if let stored = store.job(job) { return stored.payload.first.map { Int($0) } }
        return nil
    }

    func spec(of job: JobID) -> SimSpec? { specIndex(of: job).map { specs[$0] } }

    func isFull(_ worker: Int) -> Bool {
        guard !isHealed, nodes[worker].fullUntil > now else { return false }
        return true
    }

    /// How far every job is, for a run that hangs.
    var standing: String {
        let jobs = store.state.jobs.map { job in
            let open = job.batches.filter { $0.state != .done }.count
            return
                "job \(job.summary.id) \(job.summary.state), priority \(job.summary.priority), \(open) batches open, "
                + job.packages.map { "\($0.state)" }.joined(separator: " ")
        }
        return "\(jobs) clients \(clients.map { "\($0.isContent) \($0.steps.map(\.order))" })"
    }
}
