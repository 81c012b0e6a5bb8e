import TestSupport
import Tiles

@testable import Gateway

/// Clients, a coordinator that is slow or fails, and a clock.
struct DeskWorld {
    private struct Client {
        let extract: String
        let client: Int
        let isRanged: Bool
        let since: Double
        var sent = 0
        var sign: Double
    }

    private var dice: SplitMix
    private var held: HeldExtracts
    private var now = 0.0
    private var open: [UInt64: Client] = [:]
    private var ended: Set<UInt64> = []
    private var submitted: [String: Double] = [:]
    private var published: Set<String> = []
    private var next: UInt64 = 0
    private var problem: String?

    /// - Returns: The first thing that must not be; `nil` when there was none.
    static func run(seed: UInt64, _ rules: ExtractRules = ExtractRules()) -> String? {
        var world = DeskWorld(dice: SplitMix(state: seed), held: HeldExtracts(rules))
        for _ in 0..<1_500 where world.problem == nil { world.step() }
        // All faults have ended: whoever still waits must end within the longest hold.
        for _ in 0..<300 where world.problem == nil {
            world.now += 1
            world.apply(world.held.handle(.tick, now: world.now))
            world.check()
        }
        if world.problem == nil, !world.open.isEmpty { return "\(world.open.count) requests never ended" }
        return world.problem
    }

    private init(dice: SplitMix, held: HeldExtracts) {
        self.dice = dice
        self.held = held
    }

    private mutating func step() {
        now += Double.random(in: 0...1, using: &dice)
        switch Int.random(in: 0..<10, using: &dice) {
        case 0...1: ask()
        case 2: leave()
        case 3:
            guard let extract = submitted.keys.sorted().randomElement(using: &dice), Bool.random(using: &dice) else {
                break
            }
            let isDone = Bool.random(using: &dice)
            if isDone { published.insert(extract) }
            submitted[extract] = nil
            apply(held.handle(isDone ? .published(extract) : .failed(extract, reason: "test"), now: now))
        default: apply(held.handle(.tick, now: now))
        }
        check()
    }

    private mutating func ask() {
        let extract = "m\(Int.random(in: 0..<40, using: &dice))"
        // A published package is served without the held.
        guard !published.contains(extract) else {
            if Int.random(in: 0..<4, using: &dice) == 0 { published.remove(extract) }
            return
        }
        next += 1
        let client = Int.random(in: 0..<6, using: &dice)
        let isRanged = Int.random(in: 0..<4, using: &dice) == 0
        open[next] = Client(extract: extract, client: client, isRanged: isRanged, since: now, sign: now)
        let of = RateBuckets.Client.token("\(client)")
        apply(held.handle(.asked(next, extract, of, isRanged: isRanged), now: now))
    }

    private mutating func leave() {
        guard let request = open.keys.sorted().randomElement(using: &dice) else { return }
        open[request] = nil
        ended.insert(request)
        apply(held.handle(.left(request), now: now))
    }

    private mutating func apply(_ effects: [HeldExtracts.Effect]) {
        for effect in effects where problem == nil {
            switch effect {
            case .submit(let extract):
                if submitted[extract] != nil { problem = "\(extract) was submitted twice" }
                if Int.random(in: 0..<5, using: &dice) == 0 {
                    apply(held.handle(.notSubmitted(extract, .away), now: now))
                } else {
                    submitted[extract] = now
                    apply(held.handle(.submitted(extract, job: next), now: now))
                }
            case .sendByte(let request):
                guard let client = open[request] else {
                    problem = "a byte for a request that ended"
                    return
                }
                if client.isRanged { problem = "a byte for a request with a range" }
                open[request]?.sent += 1
                open[request]?.sign = now
                if client.sent + 1 > 15 { problem = "more than the constant bytes" }
            case .serve(let request, let skipping):
                finish(request) { $0.sent == skipping ? nil : "\($0.sent) bytes were sent, \(skipping) are skipped" }
            case .refuse(let request, _): finish(request) { $0.sent == 0 ? nil : "a status after a byte" }
            case .cut(let request): finish(request) { $0.sent > 0 ? nil : "a cut without a byte" }
            }
        }
    }

    private mutating func finish(_ request: UInt64, _ wrong: (Client) -> String?) {
        guard let client = open.removeValue(forKey: request) else {
            problem = ended.contains(request) ? "request \(request) ended twice" : "an unknown request ended"
            return
        }
        ended.insert(request)
        problem = problem ?? wrong(client)
    }

    /// What holds at every moment; a tick is at most some seconds ago.
    private mutating func check() {
        guard problem == nil else { return }
        apply(held.handle(.tick, now: now))
        if open.count > 64 { problem = "\(open.count) held requests" }
        for count in Dictionary(grouping: open.values, by: \.client).values.map(\.count) where count > 4 {
            problem = "\(count) held requests of one client"
        }
        for client in open.values {
            if now - client.since > (client.isRanged ? 51.5 : 241.5) { problem = "held for \(now - client.since) s" }
            if !client.isRanged, now - client.sign > 16.5, client.sent < 15 {
                problem = "silent for \(now - client.sign) s"
            }
        }
    }
}
