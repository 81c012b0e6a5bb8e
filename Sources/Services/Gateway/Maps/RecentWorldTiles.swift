internal import Tiles
internal import WorldTiles

/// The tiles of the base map that were used last, up to a number of bytes.
struct RecentWorldTiles {
    struct Key: Hashable, Sendable {
        let tile: TileID
        let language: String
    }

    struct Kept: Sendable {
        /// `nil` at sea.
        let tile: WorldTile?
        fileprivate var lastUse: UInt64

        fileprivate var bytes: Int { 200 + (tile.map { $0.vector.count + $0.gzip.count } ?? 0) }
    }

    private let most: Int
    private var kept: [Key: Kept] = [:]
    private var clock: UInt64 = 0
    /// About what the tiles take.
    private(set) var bytes = 0

    /// - Parameter most: Unit: bytes.
    init(most: Int = 16 << 20) { self.most = most }

    /// A tile that was inserted before; `nil` when it is not kept.
    mutating func find(_ key: Key) -> Kept? {
        clock += 1
        kept[key]?.lastUse = clock
        return kept[key]
    }

    /// Keeps a tile; above the bound half of the bytes go, those that were not used for the longest time.
    mutating func insert(_ tile: WorldTile?, _ key: Key) {
        clock += 1
        let new = Kept(tile: tile, lastUse: clock)
        if let old = kept.updateValue(new, forKey: key) { bytes -= old.bytes }
        bytes += new.bytes
        guard bytes > most else { return }
        for (key, one) in kept.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
            guard bytes > most / 2 else { break }
            kept[key] = nil
            bytes -= one.bytes
        }
    }
}
