internal import Tiles

/// A time of the monotonic clock, in milliseconds from a start that only its process knows.
struct Instant: Hashable, Comparable, Sendable {
    var milliseconds: Int64

    static func < (left: Instant, right: Instant) -> Bool { left.milliseconds < right.milliseconds }
    static func + (left: Instant, milliseconds: Int64) -> Instant {
        Instant(milliseconds: left.milliseconds + milliseconds)
    }
}

/// The jitter of waiting times, a part of the machine's state so that equal events give equal effects.
struct JitterRandom: Hashable, Sendable {
    private var random: SplitMix

    init(seed: UInt64) { random = SplitMix(state: seed) }

    /// The waiting time after some failed tries: 1, 2, 4 to 60 s, of which the upper half is random.
    mutating func backoff(tries: Int) -> Int64 {
        let exponent = Int64(Swift.min(Swift.max(tries, 0), 6))
        let half: Int64 = Swift.min(60_000, 1_000 << exponent) / 2
        return half + Int64(random.next() % UInt64(half + 1))
    }
}
