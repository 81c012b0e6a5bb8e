import Testing
import Tiles

/// A small generator of our own, so that a failing case can be made again from its seed.
struct SeededRandom: RandomNumberGenerator {
    var state: UInt64

    init(_ seed: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
    }

    /// How many cases to try: all of them in release, a fifth in the much slower debug build.
    static func rounds(_ count: UInt64) -> UInt64 {
        #if DEBUG
            count / 5
        #else
            count
        #endif
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }
}

func tile(_ text: String) throws -> TileID { try #require(TileID(text)) }

/// A tile written with y from the south, as CARTO's vectors are.
func southTile(_ text: String) throws -> TileID {
    let parts = text.split(separator: "/").compactMap { Int($0) }
    try #require(parts.count == 3)
    return try #require(TileID(zoom: parts[0], x: parts[1], tmsY: parts[2]))
}

/// Every tile of zoom 0...deepest.
func allTiles(_ deepest: Int) -> [TileID] {
    var tiles = [TileID.root]
    var level = tiles
    for _ in 0..<deepest {
        level = level.flatMap(\.children)
        tiles += level
    }
    return tiles
}

/// A random set of tiles that holds the parents of its tiles.
func randomSet(_ random: inout SeededRandom, maxZoom: Int) -> Set<TileID> {
    var set: Set<TileID> = []
    func grow(_ tile: TileID, _ chance: Double) {
        set.insert(tile)
        guard tile.zoom < maxZoom else { return }
        for child in tile.children {
            switch Double.random(in: 0..<1, using: &random) {
            case ..<chance: grow(child, chance)
            case ..<(chance + 0.2): set.formUnion(below(child, Int.random(in: child.zoom...maxZoom, using: &random)))
            default: break
            }
        }
    }
    func below(_ tile: TileID, _ depth: Int) -> [TileID] {
        tile.zoom < depth ? [tile] + tile.children.flatMap { below($0, depth) } : [tile]
    }
    if Int.random(in: 0..<20, using: &random) > 0 { grow(.root, Double.random(in: 0.1..<0.7, using: &random)) }
    return set
}

func tiles(of mask: TileMask) -> Set<TileID> {
    ZoomRange(min: 0, max: mask.maxZoom).map { Set(mask.tiles(in: $0)) } ?? []
}
