import TestSupport
import Tiles

@testable import Gateway

/// Clients that ask at random times, and a second computation of what each of them may do.
///
/// The second computation keeps no level but the time at which a bucket is full again: the generic cell rate algorithm
/// of ITU-T I.371.
struct RateWorld {
    private struct Key: Hashable {
        let client: Int
        let kind: RateKind
    }

    /// - Parameter changed: What the buckets have instead of the limits of this world.
    /// - Returns: The first answer that is wrong; `nil` when there was none.
    static func run(seed: UInt64, _ changed: (RateLimit) -> RateLimit = { $0 }) -> String? {
        var dice = SplitMix(state: seed)
        let limits = [RateKind.tiles, .api].reduce(into: [RateKind: RateLimit]()) { all, kind in
            let burst = Double(Int.random(in: 1...20, using: &dice))
            all[kind] = RateLimit(perSecond: Double.random(in: 0.5...50, using: &dice), burst: burst)
        }
        let factors = (0..<3).map { _ in Double.random(in: 0.5...4, using: &dice) }
        var buckets = RateBuckets(limits: limits.mapValues(changed))
        var fullAt: [Key: Double] = [:]
        var now = 0.0
        for _ in 0..<500 {
            // Long pauses fill the buckets.
            now += Double.random(in: 0...(Int.random(in: 0..<50, using: &dice) == 0 ? 60 : 0.1), using: &dice)
            let client = Int.random(in: 0..<3, using: &dice)
            let kind: RateKind = Bool.random(using: &dice) ? .tiles : .api
            guard let limit = limits[kind] else { continue }
            let (rate, burst) = (limit.perSecond * factors[client], max(1, limit.burst * factors[client]))
            let key = Key(client: client, kind: kind)
            let full = max(fullAt[key] ?? now, now)
            let wait = full - (burst - 1) / rate - now
            let answer = buckets.countRequest(.token("\(client)"), kind, factor: factors[client], now: now)
            if answer == nil { fullAt[key] = full + 1 / rate }
            // Two ways of computing the same moment differ in their last digits.
            guard abs(wait) > 1e-6 else { continue }
            guard (answer == nil) == (wait < 0) else {
                return "at \(now) s a request \(answer == nil ? "passed" : "was refused"), \(wait) s before its time"
            }
            if let answer, abs(answer - wait) > 1e-6 { return "at \(now) s the wait is \(wait) s, not \(answer) s" }
        }
        return nil
    }
}
