@testable import Scheduling

/// A simulated origin and workers with shares of what a controller allows, in steps of a millisecond.
struct ControlWorld {
    struct Origin {
        var perSecond: Double?
        var burst = 50.0
        var noise = 0.0
        var connections: Int?
        /// Milliseconds of an answer: from, and how many more at random.
        var latency: (Int64, Int64) = (2, 6)
        var busyStatus = false
        var level = 0.0
        var inside: [Int64] = []
    }
    struct Worker {
        var id: SessionID
        var rate: Double?
        var connections = 0
        var tokens = 0.0
        var flying: [(end: Int64, began: Int64, kind: Int)] = []
        var next: Int64
        var sample = OriginControl.Sample()
        /// Answers since the last grant, and until when it asks nothing because nearly all were refusals.
        var brake: (answered: Int, refused: Int, until: Int64) = (0, 0, 0)
        /// Grants on their way.
        var mail: [(due: Int64, rate: Double?, connections: Int)] = []
    }
    var origin: Origin
    var control: any RateFinder
    var workers: [Worker]
    var random: SeededRandom
    let maxConnections: Int
    let maxRate: Double
    var now: Int64 = 0
    var letters: [(due: Int64, session: SessionID, sample: OriginControl.Sample)] = []
    /// Answered and refused of each second.
    var seconds: [(answered: Int, refused: Int)] = []
    var told: (Double?, Int?) = (nil, nil)

    init(
        _ origin: Origin, _ control: any RateFinder, workers count: Int, seed: UInt64, connections: Int = 64,
        maxRate: Double = 8_000
    ) {
        self.origin = origin
        self.control = control
        random = SeededRandom(state: seed)
        maxConnections = connections
        self.maxRate = maxRate
        workers = []
        for n in 0..<count {
            workers.append(
                Worker(
                    id: SessionID(n + 1), rate: nil, connections: max(1, connections / count),
                    next: random.below(Int64(200))))
        }
    }

    mutating func run(_ span: Int64) {
        let end = now + span
        while now < end { step() }
    }

    mutating func step() {
        now += 1
        if now % 1_000 == 1 { seconds.append((0, 0)) }
        if let limit = origin.perSecond { origin.level = max(0, origin.level - limit / 1_000) }
        if origin.inside.contains(where: { $0 <= now }) { origin.inside.removeAll { $0 <= now } }
        let first = random.below(workers.count)
        for place in workers.indices { work((place + first) % workers.count) }
        // Reports arrive.
        let due = letters.filter { $0.due <= now }
        if !due.isEmpty {
            letters.removeAll { $0.due <= now }
            for letter in due {
                control.addSample(letter.sample, from: letter.session, of: workers.count, now: Tick(milliseconds: now))
            }
            grant()
        }
    }

    mutating func grant() {
        guard told.0 != control.rate || told.1 != control.connections else { return }
        told = (control.rate, control.connections)
        let all = min(control.connections ?? maxConnections, maxConnections)
        var left = all
        for place in workers.indices {
            let part = place < workers.count ? (left + workers.count - place - 1) / (workers.count - place) : 0
            left -= part
            workers[place].mail.append(
                (now + 2 + random.below(Int64(20)), control.rate.map { $0 / Double(workers.count) }, part))
        }
    }

    mutating func work(_ place: Int) {
        while let mail = workers[place].mail.first, mail.due <= now {
            workers[place].mail.removeFirst()
            workers[place].brake = (0, 0, 0)
            workers[place].rate = mail.rate
            workers[place].connections = mail.connections
            workers[place].tokens = min(workers[place].tokens, mail.rate.map { 1 + $0 * 0.02 } ?? 0)
        }
        let cap = min(workers[place].rate ?? .infinity, maxRate / Double(workers.count))
        workers[place].tokens = min(1 + cap * 0.02, workers[place].tokens + cap / 1_000)
        // Ends.
        if workers[place].flying.contains(where: { $0.end <= now }) {
            for flight in workers[place].flying where flight.end <= now {
                switch flight.kind {
                case 0:
                    workers[place].brake.answered += 1
                    workers[place].sample.answered += 1
                    workers[place].sample.occupied += Double(flight.end - flight.began)
                    seconds[seconds.count - 1].answered += 1
                default:
                    if flight.kind == 1 || workers[place].brake.answered > 0 { workers[place].brake.refused += 1 }
                    workers[place].sample.refused += 1
                    if flight.kind == 2 { workers[place].sample.busy += 1 }
                    seconds[seconds.count - 1].refused += 1
                }
            }
            workers[place].flying.removeAll { $0.end <= now }
            brake(place)
        }
        while workers[place].tokens >= 1, workers[place].brake.until <= now,
            workers[place].flying.count < workers[place].connections
        {
            workers[place].tokens -= 1
            let kind = ask()
            let took = kind == 0 ? origin.latency.0 + random.below(origin.latency.1 + 1) : 1
            if kind == 0, origin.connections != nil { origin.inside.append(now + took) }
            workers[place].flying.append((now + took, now, kind))
        }
        let isUrgent = workers[place].sample.refused > 0
        let turn: Int64 = isUrgent || control.rate != nil ? 250 : 2_000
        if now - workers[place].next >= turn {
            workers[place].next = now - random.below(Int64(100))
            workers[place].sample.isWaiting = true
            letters.append((now + 2 + random.below(Int64(20)), workers[place].id, workers[place].sample))
            workers[place].sample = OriginControl.Sample()
        }
    }

    /// The rule of Transfer's `ThrottleGuard`.
    mutating func brake(_ place: Int) {
        let brake = workers[place].brake
        if brake.until > 0, brake.until <= now { workers[place].brake = (0, 0, 0) }
        guard brake.until == 0, brake.refused >= 16 else { return }
        if brake.refused * 5 >= (brake.answered + brake.refused) * 4 { workers[place].brake.until = now + 500 }
    }

    mutating func ask() -> Int {
        let refusal = origin.busyStatus ? 2 : 1
        if origin.noise > 0, Double(random.below(1_000_000)) < origin.noise * 1_000_000 { return refusal }
        if let most = origin.connections, origin.inside.count >= most { return refusal }
        if origin.perSecond != nil {
            guard origin.level + 1 <= origin.burst else { return refusal }
            origin.level += 1
        }
        return 0
    }

    func outcome(_ range: Range<Int>) -> (answered: Double, refused: Double) {
        let part = seconds[range]
        let answered = part.reduce(0) { $0 + $1.answered }
        let refused = part.reduce(0) { $0 + $1.refused }
        return (Double(answered) / Double(part.count), Double(refused) / Double(max(answered + refused, 1)))
    }
}
