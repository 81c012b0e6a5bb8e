internal import Tiles

/// A closed rectangle in world units, for clipping.
struct ClipBox: Sendable {
    var minX: Int64
    var minY: Int64
    var maxX: Int64
    var maxY: Int64

    /// The tile's square with a margin of 1/64 of its side, which is 64 of the 4,096 units of a tile.
    ///
    /// A tile's box lies within the box of each of its ancestors, so clipping may go through them.
    init(around tile: TileID) {
        let margin = tile.units / 64
        minX = tile.origin.x - margin
        minY = tile.origin.y - margin
        maxX = tile.origin.x + tile.units + margin
        maxY = tile.origin.y + tile.units + margin
    }

    /// The smallest box round some points; an empty box if there are none.
    init(of points: [MercatorPoint]) {
        (minX, minY, maxX, maxY) = (.max, .max, .min, .min)
        for point in points {
            minX = min(minX, point.x)
            minY = min(minY, point.y)
            maxX = max(maxX, point.x)
            maxY = max(maxY, point.y)
        }
    }

    func meets(_ other: ClipBox) -> Bool {
        minX <= other.maxX && other.minX <= maxX && minY <= other.maxY && other.minY <= maxY
    }

    func contains(_ other: ClipBox) -> Bool {
        minX <= other.minX && other.maxX <= maxX && minY <= other.minY && other.maxY <= maxY
    }

    /// Whether the point lies in the half-open square of the tile, so that each point belongs to one tile of a zoom.
    static func holds(_ tile: TileID, _ point: MercatorPoint) -> Bool {
        let origin = tile.origin
        return (origin.x..<origin.x + tile.units).contains(point.x)
            && (origin.y..<origin.y + tile.units).contains(point.y)
    }
}
