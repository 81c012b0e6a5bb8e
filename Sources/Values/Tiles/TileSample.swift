/// A fixed part of many tiles: the same ones in every run, and not those that lie next to each other.
package struct TileSample: Sendable {
    private let step: UInt64

    /// - Parameters:
    ///   - count: How many tiles there are.
    ///   - most: About how many are wanted, above 0.
    package init(of count: UInt64, most: UInt64) { step = max(1, count / max(1, most)) }

    /// Whether the tile with a number belongs to it; numbers of different tiles differ.
    package func contains(_ number: UInt64) -> Bool {
        step == 1 || ((number &* 0x9E37_79B9_7F4A_7C15) >> 32) % step == 0
    }
}
