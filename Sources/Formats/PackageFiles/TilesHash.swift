internal import Cryptography

/// `agg_tiles_hash`: upper-case hexadecimal MD5 over zoom, column and TMS row in decimal and the body, of every tile in the
/// order of those three.
///
/// Source: the definition in martin's `mbtiles` tool, which hashes those four values of all rows. MD5 only detects
/// whether two files hold the same tiles; it is not secure against intentional changes.
package struct TilesHash {
    private var hash = MD5()
    /// The three numbers of a tile, kept for its space.
    private var digits: [UInt8] = []

    package init() {}

    package mutating func add(zoom: Int, column: Int, row: Int, body: UnsafeRawBufferPointer) {
        digits.removeAll(keepingCapacity: true)
        add(zoom)
        add(column)
        add(row)
        hash.update(digits)
        hash.update(body)
    }

    /// Adds the decimal digits of a number; an interpolated string takes ten times as long.
    private mutating func add(_ number: Int) {
        let start = digits.count
        var rest = number.magnitude
        repeat {
            digits.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        if number < 0 { digits.append(UInt8(ascii: "-")) }
        digits[start...].reverse()
    }

    package mutating func add(zoom: Int, column: Int, row: Int, body: [UInt8]) {
        body.withUnsafeBytes { add(zoom: zoom, column: column, row: row, body: $0) }
    }

    package func finish() -> String { hash.finish() }
}
