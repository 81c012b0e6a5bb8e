internal import PackageFiles
internal import Shards
internal import Tiles

/// The tiles of a small package with their bodies, each different body once.
struct SmallPackageTiles {
    private struct Tile {
        let tile: TileID
        let body: Int
    }

    private struct Body {
        let key: BodyKey
        var tiles = 1
        var range = 0..<0
    }

    /// Tiles that are known to have no body.
    private(set) var empty: UInt64 = 0
    /// Bytes of the different bodies.
    private(set) var length = 0
    /// Those with a body, ascending.
    private var tiles: [Tile] = []
    private var bodies: [Body] = []
    private var numbers: [BodyKey: Int] = [:]
    private var content: [UInt8] = []

    /// Tiles that are passed on at a time.
    private static let chunk = 64

    /// Adds a tile that follows all previous ones.
    ///
    /// - Returns: The number of its body, and whether no tile before had it.
    mutating func add(_ tile: TileID, _ body: ShardBody?) -> (body: Int?, isNew: Bool) {
        guard let body else {
            empty += 1
            return (nil, false)
        }
        let key = BodyKey(body.digest)
        let known = numbers[key]
        let number = known ?? bodies.count
        if known == nil {
            bodies.append(Body(key: key))
            numbers[key] = number
            length += body.length
        } else {
            bodies[number].tiles += 1
        }
        tiles.append(Tile(tile: tile, body: number))
        return (number, known == nil)
    }

    /// Allocates memory for all bodies.
    mutating func reserve() { content.reserveCapacity(length) }

    /// Sets the bytes of a body, which have been checked.
    mutating func set(body number: Int, to bytes: ArraySlice<UInt8>) {
        bodies[number].range = content.count..<content.count + bytes.count
        content += bytes
    }

    /// Gives all tiles to `each`, some at a time: once in each order.
    ///
    /// - Parameter each: Gets the number of the pass, from 0, and tiles.
    /// - Throws: What `each` throws.
    func run(_ orders: [TileOrder], each: (_ pass: Int, [MergeTile]) throws -> Void) throws -> MergeStream.Counts {
        for (pass, order) in orders.enumerated() {
            var numbers = [UInt32](repeating: 0, count: bodies.count)
            var count: UInt32 = 0
            var chunk: [MergeTile] = []
            for tile in sorted(by: order) {
                let body = bodies[tile.body]
                let isNew = numbers[tile.body] == 0
                if isNew {
                    count += 1
                    numbers[tile.body] = count
                }
                chunk.append(
                    MergeTile(
                        zoom: tile.tile.zoom, column: tile.tile.x, row: tile.tile.tmsY, key: body.key,
                        occursAgain: body.tiles > 1, number: numbers[tile.body], isNew: isNew, content: content,
                        range: body.range))
                if chunk.count == Self.chunk {
                    try each(pass, chunk)
                    chunk.removeAll(keepingCapacity: true)
                }
            }
            if !chunk.isEmpty { try each(pass, chunk) }
        }
        return MergeStream.Counts(empty: empty, distinct: UInt64(bodies.count))
    }

    private func sorted(by order: TileOrder) -> [Tile] {
        switch order {
        case .curve: tiles
        case .rows:
            tiles.map { (tile: $0, place: order.place(of: $0.tile)) }
                .sorted { ($0.tile.tile.zoom, $0.place) < ($1.tile.tile.zoom, $1.place) }.map(\.tile)
        }
    }
}
