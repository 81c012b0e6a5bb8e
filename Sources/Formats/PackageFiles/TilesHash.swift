internal import Cryptography

/// `agg_tiles_hash`: upper-case hexadecimal MD5 over zoom, column and TMS row in decimal and the body, of every tile in the
/// order of those three.
///
/// Source: the definition in martin's `mbtiles` tool, which hashes those four values of all rows. MD5 only detects
/// whether two files hold the same tiles; it is not secure against intentional changes.
package struct TilesHash {
    private var hash = MD5()

    package init() {}

    package mutating func add(zoom: Int, column: Int, row: Int, body: UnsafeRawBufferPointer) {
        let numbers = Array("\(zoom)\(column)\(row)".utf8)
        hash.update(numbers)
        hash.update(body)
    }

    package mutating func add(zoom: Int, column: Int, row: Int, body: [UInt8]) {
        body.withUnsafeBytes { add(zoom: zoom, column: column, row: row, body: $0) }
    }

    package func finish() -> String { hash.finish() }
}
