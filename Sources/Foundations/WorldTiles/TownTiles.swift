public import Regions
public import Tiles

/// Cuts vector tiles with the towns of the embedded list, as labels for a base map.
///
/// One layer `towns`: points with `name`, `country` and `population`. A tile has its most populous towns, at most ``most``; shallow tiles leave
/// out small ones. A tile is a function of the list and the tile. Safe to share between threads; some 10 MB.
public final class TownTiles: Sendable {
    /// The most towns of a tile.
    ///
    /// Source of the number: a tile is 512 pixels wide on a map, and has room for about so many names.
    public static let most = 40
    /// The fewest people of a town by zoom; deeper tiles have all towns.
    private static let fewest = [5_000_000, 3_000_000, 2_000_000, 1_000_000, 300_000, 100_000, 40_000, 15_000, 5_000]
    /// The zoom of the tiles along which towns are sorted.
    private static let keyZoom = 16

    private struct Place: Sendable {
        /// Column and row of its tile, bit by bit in turns, so that the towns of any tile stand together.
        let key: UInt64
        let town: Int
    }

    /// The most populous first.
    private let towns: [Town]
    private let places: [Place]

    /// Reads and sorts the list; takes some 50 ms.
    ///
    /// - Throws: ``RegionsError`` `.badResource` for a damaged list.
    public init(_ list: TownList) throws(RegionsError) {
        var towns: [Town] = []
        towns.reserveCapacity(list.count)
        func add(_ town: Town) { towns.append(town) }
        try list.forEach(add)
        self.towns = towns
        let shift = Int64(32 - Self.keyZoom)
        places = towns.indices.map { index in
            let point = Self.point(towns[index])
            return Place(key: Self.key(UInt64(point.x >> shift), UInt64(point.y >> shift)), town: index)
        }.sorted { ($0.key, $0.town) < ($1.key, $1.town) }
    }

    /// The unpacked vector tile; `nil` where there is no town.
    public func cut(_ tile: TileID) -> [UInt8]? {
        let found = towns(of: tile)
        guard !found.isEmpty else { return nil }
        let grid = PixelGrid(tile)
        var layer = LayerWriter("towns")
        for index in found {
            let town = towns[index]
            let fields: [(String, FieldValue)] = [
                ("name", .text(town.name)), ("country", .text(town.country)), ("population", .integer(town.population)),
            ]
            layer.point(id: index + 1, fields, grid.pixel(Self.point(town)))
        }
        var writer = ProtoWriter()
        layer.write(to: &writer)
        return writer.bytes
    }

    /// The towns that a tile shows, the most populous first.
    private func towns(of tile: TileID) -> [Int] {
        guard let square = tile.zoom <= Self.keyZoom ? tile : tile.ancestor(atZoom: Self.keyZoom) else { return [] }
        let shift = UInt64(2 * (Self.keyZoom - square.zoom))
        let first = Self.key(UInt64(square.x), UInt64(square.y)) << shift
        let end = first + 1 << shift
        let fewest = tile.zoom < Self.fewest.count ? Self.fewest[tile.zoom] : 0
        var found: [Int] = []
        for place in places[start(first)...] {
            guard place.key < end else { break }
            let town = towns[place.town]
            guard town.population >= fewest, ClipBox.holds(tile, Self.point(town)) else { continue }
            found.append(place.town)
        }
        return Array(found.sorted().prefix(Self.most))
    }

    /// The index of the first place whose key is at least `key`.
    private func start(_ key: UInt64) -> Int {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].key < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func point(_ town: Town) -> MercatorPoint {
        MercatorPoint(longitude: town.longitude, latitude: town.latitude)
    }

    /// The bits of two numbers in turns, those of `x` first.
    private static func key(_ x: UInt64, _ y: UInt64) -> UInt64 {
        var key: UInt64 = 0
        for bit in 0..<UInt64(keyZoom) { key |= (x >> bit & 1) << (2 * bit) | (y >> bit & 1) << (2 * bit + 1) }
        return key
    }
}
