internal import TileBodies
internal import Tiles

/// A sum over tiles and their order, quick enough to be taken twice: when they are written, and when they are read back.
///
/// Says whether what came back is what was given; protects against nobody.
struct TileSum: Equatable {
    /// What the sum knows of a body.
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
            // Odd, so that nothing is lost; its digits are those of the golden ratio.
            value = (value &+ part) &* 0x9E37_79B9_7F4A_7C15
            value ^= value >> 29
        }
    }

    mutating func add(_ tile: TileID, _ body: Body) { add(zoom: tile.zoom, column: tile.x, row: tile.tmsY, body) }
}

/// Takes the sum of a feed's tiles while something else takes the tiles, without a second look at bodies that occur again.
struct TileTally {
    private(set) var sum = TileSum()
    private var known = RepeatedValues<TileSum.Body>()

    /// Hands a tile to `take`, and adds it.
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
                .verificationFailed, "Tile \(tile.tile) was written unread; this is a bug in Packhorse.")
        }
        known[tile] = found
        sum.add(tile.tile, found)
    }
}
