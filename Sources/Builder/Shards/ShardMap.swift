public import Digests
internal import Tiles

/// Where the tiles of a shard are, in a form that takes little memory: what is kept of an index between merges.
public struct ShardMap: Sendable {
    /// The SHA-256 in the shard's footer.
    public let footerDigest: Digest
    /// ``TileID/hilbertID`` of its tiles, ascending.
    private let tiles: [UInt64]
    /// For each of them the number of its body, from 1; 0 for a tile without one.
    private let numbers: [UInt32]
    private let bodies: [ShardBody]
    let groups: [ShardGroup]

    /// Takes the index of an open shard, which has been checked.
    public init(_ reader: ShardReader) {
        footerDigest = reader.footerDigest
        bodies = reader.bodies
        groups = reader.groups
        tiles = reader.entries.map(\.tile.hilbertID)
        numbers = reader.entries.map { entry in entry.body.map { UInt32($0.number) + 1 } ?? 0 }
    }

    /// Bytes that it takes in memory, about.
    public var memory: Int {
        tiles.count * 12 + bodies.count * MemoryLayout<ShardBody>.stride + groups.count
            * MemoryLayout<ShardGroup>.stride + 256
    }

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
