@testable import OfflineMaps

/// A seeded world round ``StoreMachine``: a device with its disk, a server, a network, and a user.
///
/// Faults end at ``faults``; then the user says what is to be there at the end, and the queue must become empty within
/// ``patience``. What was violated first is in ``violation``.
final class SimWorld {
    enum Happening {
        case event(Event, life: Int)
        /// A write reaches the disk.
        case commit(WriteID, [Change], life: Int)
        case op(OpID, life: Int)
        case discard(Trash, life: Int)
        case alarm(life: Int, number: Int)
        case open(life: Int)
        case nemesis
        case user
        /// The user adds what was just cancelled.
        case userAdds([Item])
        case heal
        case remind
        /// Files are put at their places once more, to be adopted.
        case adopt([AdoptedFile])
        /// The part files of a cancelled task are gone, if no other task needs them.
        case cancelled(Set<String>, life: Int)
    }
    struct Entry {
        var at: Int64
        var order: Int
        var what: Happening
    }

    static let faults: Int64 = 180_000
    static let patience: Int64 = 3 * 3_600_000

    let seed: UInt64
    let wrong: WrongRule?
    var random: SimRandom
    let swarm: SimSwarm
    var server: SimServer
    var disk: SimDisk
    var now: Int64 = 0
    var queue = SimQueue()
    var life = 0
    var machine: StoreMachine?
    var ops: [OpID: SimOp] = [:]
    var pendingWrites: [(id: WriteID, changes: [Change])] = []
    var alarmNumber = 0
    var isHealed = false
    var isSuspending = false
    var isUp = true
    var reportedNetwork = NetworkState.free
    var run = StoreMachine.Run.stopped
    var checks = SimChecks()
    var violation: String?
    var trace: [String] = []
    var nextRequest: Int64 = 1
    var wanted: Set<Item> = []
    /// Files that a request has put at their places and that were not adopted yet.
    var adopting: Set<FileID> = []
    /// The requests that adopt files.
    var adoptions: [RequestID: [AdoptedFile]] = [:]
    var steps = 0
    var lastCancel: Int64 = -10_000
    var lastAdoption: Int64 = -10_000
    var isFinal = false
    /// Whether what happens is recorded in ``trace``.
    var isTraced = false

    init(seed: UInt64, wrong: WrongRule? = nil) {
        self.seed = seed
        self.wrong = wrong
        random = SimRandom(seed: seed)
        swarm = SimSwarm(&random)
        server = SimServer(seed: seed, brokenPatches: random.perMille(200))
        disk = SimDisk(capacity: 1_000_000_000)
        disk.rows.settings.quota.bytes = swarm.quota
        disk.rows.settings.quota.tilePacks = swarm.tilePacks
        disk.rows.settings.quota.previousVersions = swarm.previousVersions
    }

    /// Runs the world to its end; returns the first violation.
    func play() -> String? {
        post(0, .open(life: 0))
        for index in 0..<12 { post(Int64(index * 13_000 + random.below(12_000)), .user) }
        for index in 0..<30 { post(Int64(index * 6_000 + random.below(6_000)), .nemesis) }
        post(Self.faults, .heal)
        while violation == nil, let entry = queue.pop() {
            now = entry.at
            happen(entry.what)
            steps += 1
            if now > Self.faults && isIdle && isHealed { break }
            if now > Self.faults + Self.patience || steps > 400_000 {
                fail("the queue does not become empty: \(stuck)")
            }
        }
        if violation == nil {
            if !isIdle { fail("nothing happens any more and the queue is not empty: \(stuck)") }
            checkEnd()
        }
        return violation
    }

    var isIdle: Bool {
        isFinal && disk.rows.tasks.isEmpty && disk.inbox.isEmpty && ops.isEmpty && pendingWrites.isEmpty
            && checks.discards == 0 && adopting.isEmpty
            && machine?.trash.isEmpty ?? false
    }

    var stuck: String {
        let tasks = disk.rows.tasks.values.sorted { $0.id < $1.id }.map { "\($0.id.number) \($0.kind) \($0.items)" }
        let states = machine.map { machine in
            machine.rows.tasks.values.map { "\($0.id.number) \(machine.state(of: $0))" }
        }
        return "\(tasks) \(states ?? []) ops \(ops.count) writes \(pendingWrites.count)"
    }

    func fail(_ text: String) {
        if violation == nil { violation = "seed \(seed) at \(now) ms: \(text)" }
    }

    func note(_ text: @autoclosure () -> String) { if isTraced { trace.append("\(now) \(text())") } }

    func post(_ delay: Int64, _ what: Happening) { queue.push(now + delay, what) }

    private func happen(_ what: Happening) {
        switch what {
        case .event(let event, let life) where life == self.life: process(event)
        case .commit(let id, let changes, let life) where life == self.life: commit(id, changes)
        case .op(let id, let life) where life == self.life: step(id)
        case .discard(let trash, let life) where life == self.life: discard(trash)
        case .alarm(let life, let number) where life == self.life && number == alarmNumber: process(.alarm)
        case .open(let life) where life == self.life: open()
        case .nemesis: if !isHealed { strike() }
        case .user: if !isHealed { ask(userRequest()) }
        case .userAdds(let items):
            for item in items where !isHealed { ask(add(item.isRegion ? .load : .install, [item])) }
        case .heal: heal()
        case .remind: remind()
        case .adopt(let files): ask(.adopt(files))
        case .cancelled(let digests, let life) where life == self.life: checkCancelled(digests)
        default: break
        }
    }

    /// Hands an event to the machine and does its effects; the process can die before any of them.
    func process(_ event: Event) {
        guard var machine else { return }
        note("> \(event)")
        let effects = machine.handle(event, now: Instant(milliseconds: now))
        self.machine = machine
        for effect in effects {
            if !isHealed && swarm.crashes > 0 && random.perMille(swarm.crashes) { return crash() }
            note("  < \(effect)")
            perform(effect)
            if violation != nil { return }
        }
        if let text = checks.afterEffects(self) { fail(text) }
    }

    /// The process dies: what is not on disk is lost.
    func crash() {
        note("CRASH")
        machine = nil
        ops = [:]
        // Transactions end in their order; some of those under way have reached the disk.
        let kept = random.below(pendingWrites.count + 1)
        for write in pendingWrites.prefix(kept) { apply(write.changes) }
        pendingWrites = []
        for digest in disk.parts.keys.sorted() where disk.tiles[digest] == nil && random.perMille(500) {
            let lost = min(disk.parts[digest]?.size ?? 0, UInt64(random.below(1 << 20)))
            disk.parts[digest]?.size -= lost
            checks.credit[digest, default: 0] += lost
        }
        // Who waited for the answer of a request that was done is gone.
        for (id, files) in adoptions where !disk.inbox.contains(where: { $0.id == id }) {
            adopting.subtract(files.map(\.file.id))
            adoptions[id] = nil
        }
        life += 1
        checks.newLife()
        isSuspending = false
        run = .stopped
        post(Int64(random.within(50...2_000)), .open(life: life))
    }

    /// A process gets the lock and continues from the disk.
    private func open() {
        machine = StoreMachine(disk.rows, seed: random.next(), rules: wrong?.rules ?? StoreRules())
        let prepared = disk.files.filter { disk.rows.files[$0.key] == nil && disk.rows.faulty[$0.key] == nil }
            .map { InstalledFile($0.key, bytes: $0.value.bytes) }
        process(.opened(parts: disk.parts.mapValues(\.size), prepared: prepared, free: disk.free))
        if machine != nil { process(.network(reportedNetwork)) }
        for entry in disk.inbox where machine != nil { process(.asked(entry.id, entry.request)) }
        if machine != nil {
            run = .running
            process(.start)
        }
    }
}
