/// Finds out which bodies occur once, with two bits per slot: only the others need a row in the table of known bodies.
///
/// A repeated body is always recognised. A body that occurs once may be classified as repeated (about 1 in 17 at the
/// chosen size), which costs a row and does not change the result. Memory: 2 to 4 bytes a tile.
package struct RepeatFilter {
    private var cells: [UInt8]
    private let mask: UInt64

    package init(tiles: UInt64) {
        var slots: UInt64 = 1 << 10
        while slots < 8 * tiles { slots <<= 1 }
        cells = [UInt8](repeating: 0, count: Int(slots / 4))
        mask = slots - 1
    }

    package mutating func add(_ key: BodyKey) {
        let (cell, shift) = place(key)
        let count = cells[cell] >> shift & 3
        if count < 2 { cells[cell] += 1 << shift }
    }

    package func occursAgain(_ key: BodyKey) -> Bool {
        let (cell, shift) = place(key)
        return cells[cell] >> shift & 3 > 1
    }

    private func place(_ key: BodyKey) -> (Int, UInt8) {
        let slot = key.low & mask
        return (Int(slot / 4), UInt8(slot % 4) * 2)
    }
}
