public import Digests
public import Tiles

/// Where the tiles and bodies of a shard are, without what the origin said of them: some 60 bytes a tile.
///
/// A merge reads a shard by its map, and maps are kept between merges.
public struct ShardMap: Sendable {
    /// The SHA-256 in the shard's footer.
    public let footerDigest: Digest
    /// ``TileID/hilbertID`` of its tiles, ascending.
    let tiles: [UInt64]
    /// For each of them the number of its body, from 1; 0 for a tile without one.
    let numbers: [UInt32]
    let bodies: [ShardBody]
    let groups: [ShardGroup]

    /// Takes what the decoder of an index has checked.
    init(footerDigest: Digest, tiles: [UInt64], numbers: [UInt32], bodies: [ShardBody], groups: [ShardGroup]) {
        (self.footerDigest, self.tiles, self.numbers) = (footerDigest, tiles, numbers)
        (self.bodies, self.groups) = (bodies, groups)
    }

    /// Bytes that it takes in memory, about.
    public var memory: Int {
        tiles.count * 12 + bodies.count * MemoryLayout<ShardBody>.stride + groups.count
            * MemoryLayout<ShardGroup>.stride + 256
    }

    /// How many groups its bodies lie in.
    public var groupCount: Int { groups.count }

    /// The body with a number that ``forEachTile(in:_:)`` gave; `nil` for 0, a tile without a body.
    public func body(_ number: UInt32) -> ShardBody? { number == 0 ? nil : bodies[Int(number) - 1] }

    /// Calls `each` for every tile of some zooms (0...22), ascending, with the number of its body.
    public func forEachTile(in zooms: ClosedRange<Int>, _ each: (TileID, _ body: UInt32) throws -> Void) rethrows {
        let end = Self.firstID(ofZoom: zooms.upperBound + 1)
        var index = Self.firstIndex(in: tiles, from: 0, notBelow: Self.firstID(ofZoom: zooms.lowerBound))
        while index < tiles.count, tiles[index] < end {
            if let tile = TileID(hilbertID: tiles[index]) { try each(tile, numbers[index]) }
            index += 1
        }
    }

    /// The number of tiles of all zooms above a zoom: the first id of the zoom.
    static func firstID(ofZoom zoom: Int) -> UInt64 { ((1 << UInt64(2 * zoom)) - 1) / 3 }

    /// Calls `each` for every tile of a list that the shard mentions, with its place in the list and its body.
    ///
    /// The work grows with the tiles of the list that lie between the first and the last tile of the shard.
    /// - Parameter list: ``TileID/hilbertID`` of tiles, ascending, each once.
    public func forEachTile(of list: [UInt64], _ each: (_ place: Int, _ body: ShardBody?) -> Void) {
        guard let first = tiles.first, let last = tiles.last else { return }
        var here = 0
        var place = Self.firstIndex(in: list, from: 0, notBelow: first)
        while place < list.count, list[place] <= last {
            here = Self.firstIndex(in: tiles, from: here, notBelow: list[place])
            // There is one, because the last tile is not below.
            if tiles[here] == list[place] {
                each(place, numbers[here] == 0 ? nil : bodies[Int(numbers[here]) - 1])
                place += 1
            } else {
                place = Self.firstIndex(in: list, from: place + 1, notBelow: tiles[here])
            }
        }
    }

    /// The index of the first value that is not below a number, at or after `start`; steps that double, then halves.
    private static func firstIndex(in values: [UInt64], from start: Int, notBelow number: UInt64) -> Int {
        var (low, step) = (start, 1)
        while low + step <= values.count, values[low + step - 1] < number {
            low += step
            step *= 2
        }
        var high = min(values.count, low + step)
        while low < high {
            let middle = (low + high) / 2
            if values[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
