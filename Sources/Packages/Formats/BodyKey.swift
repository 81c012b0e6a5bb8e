internal import Shards

/// What tells bodies apart: 128 bits of their SHA-256, or the number their source gave them.
///
/// Keys of the two kinds are never mixed.
struct BodyKey: Hashable {
    let high: UInt64
    let low: UInt64

    /// By content.
    init(_ digest: Digest) { (high, low) = digest.prefix128 }

    /// By a number the source has for the body and for no other, spread over all bits (SplitMix64, which loses nothing).
    init(reference: UInt64) {
        var mixed = reference &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        high = .max
        low = mixed ^ (mixed >> 31)
    }
}
