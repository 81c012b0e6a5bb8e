import HeapModule
import Scheduling
import Tiles

/// A seeded world around the scheduler: lossy, doubling, reordering messages; workers that die, pause and fail; a
/// coordinator that dies before or after its transaction and comes back from the store.
///
/// Faults stop at `healAt`; then the job must end.
struct Simulation {
    enum Parcel {
        case toCoordinator(Event)
        case toWorker(Int, SessionID, Outgoing)
        case inside(Event, incarnation: UInt32)
    }
    struct Delivery: Comparable {
        let at: Int64
        let order: UInt64
        let parcel: Parcel
        static func < (left: Delivery, right: Delivery) -> Bool { (left.at, left.order) < (right.at, right.order) }
        static func == (left: Delivery, right: Delivery) -> Bool { left.order == right.order }
    }

    static let healAt: Int64 = 240_000
    static let limit: Int64 = healAt + 900_000

    var random: SeededRandom
    let (loss, double, delay, workerCrash, coordinatorCrash, pause, fail):
        (Int64, Int64, Int64, Int64, Int64, Int64, Int64)
    let policy: SchedulerPolicy
    var now: Int64 = 0
    var mail: Heap<Delivery> = []
    var order: UInt64 = 0
    var store = StoredState()
    var epoch: UInt32 = 0
    var coordinator: Scheduler?
    var downUntil: Int64 = 0
    var workers: [SimWorker] = []
    var granted: [LeaseToken: SessionID] = [:]
    var published: [String: ContentDigest] = [:]
    var problems: [String] = []
    var crashes = 0
    var refused = 0
    var trace: UInt64 = 1_469_598_103_934_665_603

    init(seed: UInt64) {
        var random = SeededRandom(state: seed &* 7_919 &+ 1)
        loss = random.perMille(600) ? random.below(250) : 0
        double = random.perMille(500) ? random.below(250) : 0
        delay = 20 + random.below(2_000)
        workerCrash = random.perMille(600) ? random.below(4) : 0
        coordinatorCrash = random.perMille(600) ? 1 + random.below(3) : 0
        pause = random.perMille(500) ? random.below(4) : 0
        fail = random.perMille(400) ? random.below(100) : 0
        var policy = SchedulerPolicy()
        policy.maxAttempts = 255
        policy.maxLosses = 255
        self.policy = policy
        workers = (0..<Int(2 + random.below(5))).map { SimWorker(index: $0, session: random.next() | 1) }
        self.random = random
    }

    static func digest(_ result: CommitResult) -> ContentDigest {
        switch result {
        case .fetch(let digest, _, _): digest
        case .merge(let package): package.digest
        }
    }

    /// Runs to the end; the first problem, or `nil`.
    mutating func run() -> String? {
        let jobs = 1 + Int(random.below(3))
        for job in 0..<jobs {
            let submission = Bench.job(
                Int(10 + random.below(50)), request: "r\(job)", allowedMissing: 1, packages: Int(1 + random.below(2)))
            // The submitter repeats itself until it is sure, as the CLI does.
            for attempt in 0..<30 {
                post(.toCoordinator(.submit(submission)), at: Int64(job) * 5_000 + Int64(attempt) * 20_000)
            }
        }
        while now < Simulation.limit {
            now += 100
            crashSome()
            if coordinator == nil, now >= downUntil { boot() }
            deliver()
            work()
            if let alarm = coordinator?.nextAlarm, alarm.milliseconds <= now { turn([.timer]) }
            if !problems.isEmpty { return "\(problems[0]) at \(now) ms" }
            if now > Simulation.healAt, isFinished(jobs) { return verdict() }
        }
        let states = store.jobs.map { "\($0.summary.state) \($0.batches.filter { $0.state != .done }.count) open" }
        return "not finished \(Simulation.limit - Simulation.healAt) ms after the faults ended: \(states)"
    }

    private func isFinished(_ jobs: Int) -> Bool {
        store.jobs.count == jobs && store.jobs.allSatisfy(\.summary.state.isFinal)
    }

    private func verdict() -> String? {
        for job in store.jobs {
            guard job.summary.state == .done else {
                return "job \(job.summary.id) ended as \(job.summary.state): \(job.summary.reason)"
            }
            guard job.batches.allSatisfy({ $0.state == .done && $0.digest != nil }) else {
                return "a batch of a done job is not done"
            }
            guard job.packages.allSatisfy({ published["\(job.summary.id)/\($0.id)"] == $0.merged?.digest }) else {
                return "a package of a done job is not published"
            }
        }
        return nil
    }

    // MARK: - Coordinator

    private mutating func boot() {
        epoch += 1
        var fresh = Scheduler(policy: policy, epoch: epoch, jobs: store.jobs, now: Tick(milliseconds: now))
        let effects = fresh.start(now: Tick(milliseconds: now))
        coordinator = fresh
        carryOut(effects)
    }

    private mutating func turn(_ events: [Event]) {
        for event in events {
            guard let effects = coordinator?.handle(event, now: Tick(milliseconds: now)) else { return }
            if !effects.isEmpty, let wrong = coordinator?.audit().first {
                problems.append("audit: \(wrong) after \(event)")
            }
            carryOut(effects)
        }
    }

    /// One transaction, then messages; a crash may come before it, after it, or nowhere.
    private mutating func carryOut(_ effects: [Effect]) {
        let mayCrash = now < Simulation.healAt && coordinatorCrash > 0
        if mayCrash, !effects.isEmpty, random.below(8_000) < coordinatorCrash { return kill() }
        for case .store(let write) in effects { keep(write) }
        if mayCrash, !effects.isEmpty, random.below(8_000) < coordinatorCrash { return kill() }
        for effect in effects {
            switch effect {
            case .store, .submitted, .release, .split, .fire: break
            case .send(let session, let message): deliverLater(session, message)
            case .writeManifest(let id, let package):
                let digest = Bench.digest(id << 16 | UInt64(package))
                post(
                    .inside(.manifestWritten(id, package: package, digest), incarnation: epoch),
                    at: now + random.below(3_000))
            case .publish(let id, let package, let merged):
                let key = "\(id)/P\(package)"
                let isSame = published[key] == merged.digest
                if let old = published[key], old != merged.digest {
                    problems.append("\(key) published twice with different bytes")
                }
                published[key] = merged.digest
                let done = Event.published(id, package: package, version: 1, path: key, unchanged: isSame)
                post(.inside(done, incarnation: epoch), at: now + random.below(3_000))
            }
        }
        if let coordinator {
            for job in store.jobs where !job.summary.state.isFinal && random.perMille(20) {
                if coordinator.batches(of: job.summary.id) != job.batches {
                    problems.append("memory and store differ on batches")
                }
                if coordinator.packages(of: job.summary.id) != job.packages {
                    problems.append("memory and store differ on packages")
                }
            }
        }
    }

    private mutating func kill() {
        coordinator = nil
        downUntil = now + random.below(10_000)
        crashes += 1
    }

    /// Applies a write and checks that no done batch is done again and no token used twice.
    private mutating func keep(_ write: StoreWrite) {
        if case .batch(let id, let index, let batch) = write,
            let rows = store.jobs.first(where: { $0.summary.id == id })?.batches, index < rows.count
        {
            let old = rows[index]
            if old.state == .done, batch != old { problems.append("batch \(index) of job \(id) was done and changed") }
            if batch.state == .leased, let token = batch.token {
                if let before = granted[token], before != batch.owner {
                    problems.append("token \(token) granted twice")
                }
                if let last = old.token, token < last { problems.append("token \(token) is not above \(last)") }
                granted[token] = batch.owner
            }
        }
        store.apply(write)
        trace = (trace ^ UInt64(now)) &* 1_099_511_628_211
    }

    private mutating func deliverLater(_ session: SessionID, _ message: Outgoing) {
        guard let worker = workers.first(where: { $0.session == session }) else { return }
        post(.toWorker(worker.index, session, message), at: nil)
    }

    // MARK: - World

    /// Puts a parcel on its way: at a set time, or through the network with all its faults.
    private mutating func post(_ parcel: Parcel, at time: Int64?) {
        order += 1
        if let time {
            mail.insert(Delivery(at: time, order: order, parcel: parcel))
            return
        }
        let isFaulty = now < Simulation.healAt
        if isFaulty, random.perMille(loss) { return }
        mail.insert(Delivery(at: now + random.below(delay), order: order, parcel: parcel))
        if isFaulty, random.perMille(double) {
            order += 1
            mail.insert(Delivery(at: now + random.below(delay * 8), order: order, parcel: parcel))
        }
    }

    private mutating func deliver() {
        while let next = mail.min, next.at <= now {
            mail.removeMin()
            switch next.parcel {
            case .toCoordinator(let event): turn([event])
            case .inside(let event, let incarnation): if incarnation == epoch, coordinator != nil { turn([event]) }
            case .toWorker(let index, let session, let message):
                guard workers[index].session == session else { break }
                if workers[index].pausedUntil > now {
                    order += 1
                    mail.insert(Delivery(at: workers[index].pausedUntil, order: order, parcel: next.parcel))
                    break
                }
                note(message, to: index)
                let answers = workers[index].receive(message, now: now, random: &random)
                for answer in answers { post(.toCoordinator(answer), at: nil) }
            }
        }
    }

    /// An acknowledgement on the wire must be in the store already (I8).
    private mutating func note(_ message: Outgoing, to index: Int) {
        if case .stale = message { refused += 1 }
        guard case .ack(let token, let digest) = message,
            let entry = workers[index].spool.first(where: { $0.offer.token == token }),
            let job = store.jobs.first(where: { $0.summary.id == entry.offer.job })
        else { return }
        switch entry.offer.work {
        case .fetch(let batch, _, _, _):
            if job.batches[batch].digest != digest {
                problems.append("acknowledged batch \(batch) is not in the store")
            }
        case .merge(let package, _, _):
            if job.packages[package].merged?.digest != digest {
                problems.append("acknowledged package is not in the store")
            }
        }
    }

    private mutating func crashSome() {
        guard now < Simulation.healAt else { return }
        for index in workers.indices {
            if random.below(4_000) < workerCrash {
                workers[index] = SimWorker(
                    index: index, session: random.next() | 1, nextBeat: now + random.below(5_000))
                crashes += 1
            }
            if random.below(4_000) < pause { workers[index].pausedUntil = now + random.below(90_000) }
        }
        if coordinator != nil, random.below(8_000) < coordinatorCrash { kill() }
    }

    private mutating func work() {
        for index in workers.indices where workers[index].pausedUntil <= now || now >= Simulation.healAt {
            for done in workers[index].held where done.ends <= now {
                workers[index].held.removeAll { $0.offer.token == done.offer.token }
                let session = workers[index].session
                if now < Simulation.healAt, random.perMille(fail) {
                    let trouble = Trouble(cause: "origin-down", detail: "simulated")
                    post(.toCoordinator(.fail(session, done.offer.token, trouble, retriable: true)), at: nil)
                } else {
                    // The origin may change between attempts: bytes differ by token.
                    let result = Bench.result(done.offer, seed: done.offer.token.rawValue & 0xFF)
                    workers[index].spool.append((done.offer, result))
                    post(.toCoordinator(.commit(session, done.offer.token, result)), at: nil)
                }
            }
            if now >= workers[index].nextBeat {
                workers[index].nextBeat = now + 4_000 + random.below(2_000)
                for event in workers[index].beat(now: now) { post(.toCoordinator(event), at: nil) }
            }
        }
    }
}
