/// Which faults a seed has, and how many: each kind is off in many seeds, so that the others get far (swarm testing).
///
/// Shares are per mille; those of faults are per beat of the nemesis (half a second).
struct Swarm {
    let loss: Int64
    let doubling: Int64
    let delay: ClosedRange<Int64>
    let cut: Int64
    let workerCrash: Int64
    let drain: Int64
    let pause: Int64
    let slowNodes: Int64
    let workerDiskFull: Int64
    let coordinatorCrash: Int64
    /// Probability per crash point of a tick, in units of 1/100,000.
    let crashPoint: Int64
    let coordinatorPause: Int64
    let storeFull: Int64
    let powerCut: Int64
    let lostBlob: Int64
    let rottenBlob: Int64
    /// Largest drift of a node's clock, per mille.
    let drift: Int64
    let clockJump: Int64
    let flakyTile: Int64
    let badTile: Int64
    let originOutage: Bool
    let originChanges: Bool
    let attemptFails: Int64
    let orders: Int64
    /// Tiles that fail the whole batch they are in, until it is cut down to them.
    let poison: Int64
    let follows: Int64
    /// Whether work dies after the attempts of production; otherwise it is tried until it is done.
    let attemptsAreCounted: Bool
    let keptJobs: Int
    /// Packages that are wanted in other formats too.
    let formats: Int64
    /// Workers that do not write all of them.
    let oldBuilds: Int64

    init(_ random: inout SeededRandom) {
        func roll(_ chance: Int64, _ range: ClosedRange<Int64>) -> Int64 {
            random.perMille(chance) ? random.within(range) : 0
        }
        loss = roll(600, 1...250)
        doubling = roll(500, 1...250)
        let shortest = random.below(Int64(20))
        delay = shortest...(shortest + 20 + random.below(Int64(1_500)))
        cut = roll(400, 1...6)
        workerCrash = roll(500, 1...6)
        drain = roll(300, 1...4)
        pause = roll(400, 1...6)
        slowNodes = roll(300, 100...500)
        workerDiskFull = roll(250, 1...5)
        coordinatorCrash = roll(400, 1...8)
        crashPoint = roll(400, 20...400)
        coordinatorPause = roll(250, 1...6)
        storeFull = roll(250, 1...6)
        powerCut = roll(250, 1...6)
        lostBlob = roll(250, 1...12)
        rottenBlob = roll(250, 1...12)
        drift = roll(400, 1...5)
        clockJump = roll(250, 1...6)
        flakyTile = roll(300, 1...30)
        badTile = roll(250, 1...40)
        originOutage = random.perMille(250)
        originChanges = random.perMille(400)
        attemptFails = roll(300, 1...60)
        orders = roll(450, 200...800)
        attemptsAreCounted = random.perMille(300)
        poison = attemptsAreCounted ? roll(500, 1...30) : 0
        follows = roll(200, 200...600)
        keptJobs = random.perMille(150) ? 1 : 1_000
        formats = roll(600, 200...1_000)
        oldBuilds = roll(400, 200...800)
    }

    private init(quietWith random: inout SeededRandom) {
        (loss, doubling, cut, workerCrash, drain, pause, slowNodes) = (0, 0, 0, 0, 0, 0, 0)
        (workerDiskFull, coordinatorCrash, crashPoint, coordinatorPause, storeFull, powerCut) = (0, 0, 0, 0, 0, 0)
        (lostBlob, rottenBlob, drift, clockJump, flakyTile, badTile) = (0, 0, 0, 0, 0, 0)
        (originOutage, originChanges, attemptFails, orders, poison, follows) = (false, false, 0, 0, 0, 0)
        (attemptsAreCounted, keptJobs, formats, oldBuilds) = (true, 1_000, 0, 0)
        delay = 1...(2 + random.below(Int64(20)))
    }

    /// No faults at all, for what is measured rather than survived.
    static func quiet(_ random: inout SeededRandom) -> Swarm { Swarm(quietWith: &random) }
}
