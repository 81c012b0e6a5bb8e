/// SplitMix64: the whole simulation follows from one seed.
struct SeededRandom {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int64) -> Int64 { bound <= 0 ? 0 : Int64(next() % UInt64(bound)) }
    mutating func perMille(_ share: Int64) -> Bool { below(1_000) < share }
}
