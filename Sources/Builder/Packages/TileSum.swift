internal import PackageFiles
internal import TileBodies
internal import Tiles

/// A checksum over tiles and their order, fast enough to compute twice: while writing and while reading back.
///
/// Detects accidental differences only; it is not secure against intentional changes.
struct TileSum: Equatable {
    /// The values of a body that go into the sum.
    struct Body {
        fileprivate let part: UInt64

        init(_ bytes: UnsafeRawBufferPointer) {
            part = UInt64(Zlib.crc32(bytes)) << 30 ^ UInt64(bytes.count)
        }
    }

    private(set) var tiles: UInt64 = 0
    private var value: UInt64 = 0

    mutating func add(zoom: Int, column: Int, row: Int, _ body: Body) {
        tiles += 1
        for part in [UInt64(truncatingIfNeeded: zoom << 44 | column << 22 | row), body.part] {
            // An odd factor, so that the multiplication is reversible; its digits are those of the golden ratio.
            value = (value &+ part) &* 0x9E37_79B9_7F4A_7C15
            value ^= value >> 29
        }
    }

    mutating func add(_ tile: TileID, _ body: Body) { add(zoom: tile.zoom, column: tile.x, row: tile.tmsY, body) }
}

/// Computes the sum of a feed's tiles while another consumer takes them; repeated bodies are hashed once.
struct TileTally {
    private(set) var sum = TileSum()
    private var known = RepeatedValues<TileSum.Body>()

    /// Passes a tile to `take`, and adds it to the sum.
    mutating func add(_ tile: FeedTile, _ take: (FeedTile) throws -> Void) throws {
        var found = known[tile]
        try take(
            FeedTile(tile: tile.tile, key: tile.key, occursAgain: tile.occursAgain) {
                let bytes = try tile.body()
                if found == nil { found = bytes.withUnsafeBytes { TileSum.Body($0) } }
                return bytes
            })
        guard let found else {
            throw PackagesError(
                .verificationFailed,
                "Tile \(tile.tile) was written without its body being read; this is a bug in Packhorse.")
        }
        known[tile] = found
        sum.add(tile.tile, found)
    }
}
