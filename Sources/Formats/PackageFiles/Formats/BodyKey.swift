package import Digests

/// The identity of a body: 128 bits of its SHA-256, or the number that the source gave it.
///
/// Keys of the two kinds are never mixed.
package struct BodyKey: Hashable {
    package let high: UInt64
    package let low: UInt64

    /// By content.
    package init(_ digest: Digest) { (high, low) = digest.prefix128 }

    /// By a number that the source uses for this body only, spread over all bits (SplitMix64, which is reversible).
    package init(reference: UInt64) {
        var mixed = reference &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        high = .max
        low = mixed ^ (mixed >> 31)
    }
}
