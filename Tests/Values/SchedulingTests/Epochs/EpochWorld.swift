import Scheduling

/// Two coordinators: one that is frozen and cut off at random, and one that is restored from its backups beside it.
///
/// ``Tenure`` and ``ObeyedEpoch`` are the code of the program. The place of the backups, the lock of a catalog, workers and the
/// network are models, in steps of 100 ms. Checked after every step (I17):
///
/// | | |
/// |---|---|
/// | a worker obeys no lower epoch than it has heard | ``hear(_:)`` |
/// | at each instant the grants of one coordinator at most are valid | ``checkGrants()`` |
/// | the old coordinator writes no list after its successor has the lock of the catalog | ``write(by:)`` |
/// | without locks, at most the write whose claim was read before | ``write(by:)`` |
/// | it removes no blob later than an answer counts | ``remove(by:)`` |
struct EpochWorld {
    /// A wrong rule.
    enum Mutant: CaseIterable {
        /// A worker obeys whoever speaks last.
        case workerObeysLowerEpoch
        /// The old coordinator reads no claim before it publishes.
        case oldPublishes
        /// The old coordinator removes blobs without an answer.
        case oldRemoves
        /// Rates are granted however old the last answer is.
        case grantsWithoutAnswer
        /// The successor grants rates when it is announced.
        case successorGrantsAtOnce
    }

    struct Question {
        let asked: Int64
        /// When the place is read, and when the answer is there.
        let read: Int64
        let arrives: Int64
        var sees: Bool?
    }

    /// A change of the catalog.
    struct Change {
        let ends: Int64
        var checked: Int64
        /// Whether the next thing that the process does is to write.
        var isCertain = false
    }

    struct Peer {
        let epoch: UInt32
        var tenure = Tenure()
        var pausedUntil: Int64 = 0
        var cutUntil: Int64 = 0
        var mutedUntil: Int64 = 0
        var lastTurn: Int64
        var nextQuestion: Int64 = 0
        var question: Question?
        /// Until when messages wait for an answer, after the process stood still.
        var quietUntil: Int64 = 0
        var change: Change?
        var nextChange: Int64
        var nextRemoval: Int64
        var hasEnded = false
    }

    struct Grant {
        let epoch: UInt32
        let ends: Int64
    }

    struct Mail {
        let at: Int64
        let worker: Int
        let from: UInt32
        let asked: Int64
        let hasGrant: Bool
    }

    struct Worker {
        var obeyed = ObeyedEpoch()
        var at: Int
        var heard: Int64 = 0
        var nextReport: Int64 = 0
        var nextSurvey: Int64 = 30_000
        var grant: Grant?
    }

    static let step: Int64 = 100
    static let end: Int64 = 150_000
    /// How long an answer of the place counts before a change.
    static let trust: Int64 = 5_000

    let mutant: Mutant?
    /// Whether the lock of the catalog excludes other machines.
    let hasLocks: Bool
    let birth: Int64
    var random: SeededRandom
    var now: Int64 = 0
    var peers: [Peer]
    var workers: [Worker]
    var mail: [Mail] = []
    /// When the place has the claim of the successor, and when the catalog has it.
    var claimed = Int64.max
    var announced = Int64.max
    var problems: [String] = []
    /// What happened, so that a world without it proves nothing.
    var lateWrites = 0
    var refusals = 0
    var ignored: UInt64 { workers.reduce(0) { $0 + $1.obeyed.ignored } }
    var grantsOfSuccessor = 0

    init(seed: UInt64, mutant: Mutant? = nil) {
        self.mutant = mutant
        var random = SeededRandom(state: seed &* 6_151 &+ 5)
        hasLocks = random.perMille(700)
        birth = 20_000 + random.below(Int64(40_000))
        peers = [Peer(epoch: 3, lastTurn: 0, nextChange: 1_000, nextRemoval: 1_500)]
        peers[0].tenure.announced(at: Tick(milliseconds: 0), hasPredecessor: false)
        workers = [Worker(at: 0), Worker(at: 0)]
        self.random = random
    }

    /// Runs the world; the first problem, or `nil`.
    mutating func run() -> String? {
        while now < Self.end, problems.isEmpty {
            now += Self.step
            strike()
            if now >= birth, peers.count == 1 { bear() }
            for index in peers.indices { turn(index) }
            for index in workers.indices { work(index) }
            for letter in mail.filter({ $0.at <= now }) { hear(letter) }
            mail.removeAll { $0.at <= now }
            checkGrants()
        }
        return problems.first
    }

    /// Faults befall the old coordinator, most of them near the birth of the successor.
    private mutating func strike() {
        guard random.perMille(12) else { return }
        let span: Int64 = 500 + random.below(random.perMille(300) ? 60_000 : 12_000)
        switch random.below(4) {
        case 0: peers[0].pausedUntil = max(peers[0].pausedUntil, now + span)
        case 1, 2: peers[0].cutUntil = max(peers[0].cutUntil, now + span)
        default: peers[0].mutedUntil = max(peers[0].mutedUntil, now + span)
        }
    }

    /// The successor is restored: its claim is durable in the place, then in the catalog.
    private mutating func bear() {
        if claimed == .max { claimed = now }
        // It waits for the lock.
        guard !hasLocks || peers[0].change == nil else { return }
        announced = now
        var peer = Peer(epoch: 1_004, lastTurn: now, nextChange: now + 500, nextRemoval: now + 500)
        peer.tenure.announced(at: Tick(milliseconds: now), hasPredecessor: mutant != .successorGrantsAtOnce)
        peers.append(peer)
    }

    mutating func problem(_ text: String) { problems.append("\(text), at \(now) ms") }
}
