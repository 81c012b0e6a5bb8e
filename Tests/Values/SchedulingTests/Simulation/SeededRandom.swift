/// SplitMix64: the whole simulation follows from one seed.
struct SeededRandom {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return SeededRandom.mix(state)
    }

    static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A stream of its own, so that one more roll in one part of the world does not shift the others.
    mutating func forked() -> SeededRandom { SeededRandom(state: next()) }

    mutating func below(_ bound: Int64) -> Int64 { bound <= 0 ? 0 : Int64(next() % UInt64(bound)) }
    mutating func below(_ bound: Int) -> Int { Int(below(Int64(bound))) }
    mutating func perMille(_ share: Int64) -> Bool { below(Int64(1_000)) < share }
    mutating func within(_ range: ClosedRange<Int64>) -> Int64 {
        range.lowerBound + below(range.upperBound - range.lowerBound + 1)
    }
}
