public import Errors
public import Tiles

extension PBTile {
    /// The wire form of `tile`.
    public init(_ tile: TileID) {
        self.init()
        zoom = UInt32(tile.zoom)
        x = UInt32(tile.x)
        y = UInt32(tile.y)
    }

    /// The tile, or `nil` when the numbers are not a valid tile.
    ///
    /// Decoded messages contain only valid tiles.
    public var tileID: TileID? { TileID(zoom: Int(zoom), x: Int(x), y: Int(y)) }
}

extension PBBox {
    /// The wire form of `box`.
    public init(_ box: BoundingBox) {
        self.init()
        west = box.west
        south = box.south
        east = box.east
        north = box.north
    }

    /// Whether all sides are finite numbers.
    var isFinite: Bool { west.isFinite && south.isFinite && east.isFinite && north.isFinite }

    /// The box.
    ///
    /// - Throws: `TilesError` when the sides are not a valid box.
    public func boundingBox() throws(TilesError) -> BoundingBox {
        try BoundingBox(west: west, south: south, east: east, north: north)
    }
}
