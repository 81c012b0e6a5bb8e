/// A generator that gives the same numbers in every run (Steele, Lea, Flood: SplitMix, 2014).
public struct SplitMix: RandomNumberGenerator, Hashable, Sendable {
    private var state: UInt64

    /// - Parameter state: Two generators with the same number here give the same sequence.
    public init(state: UInt64) { self.state = state }

    /// The next of 2^64 numbers, all with the same probability.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
