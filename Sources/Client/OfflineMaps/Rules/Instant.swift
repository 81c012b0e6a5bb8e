/// A time of the monotonic clock, in milliseconds from a start that only its process knows.
struct Instant: Hashable, Comparable, Sendable {
    var milliseconds: Int64

    static func < (left: Instant, right: Instant) -> Bool { left.milliseconds < right.milliseconds }
    static func + (left: Instant, milliseconds: Int64) -> Instant {
        Instant(milliseconds: left.milliseconds + milliseconds)
    }
}

/// SplitMix64: the jitter of waiting times, a part of the machine's state so that equal events give equal effects.
struct JitterRandom: Hashable, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// The waiting time after some failed tries: 1, 2, 4 to 60 s, of which the upper half is random.
    mutating func backoff(tries: Int) -> Int64 {
        let exponent = Int64(Swift.min(Swift.max(tries, 0), 6))
        let half: Int64 = Swift.min(60_000, 1_000 << exponent) / 2
        return half + Int64(next() % UInt64(half + 1))
    }
}
