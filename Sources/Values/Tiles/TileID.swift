/// Identifies one tile of the Web Mercator pyramid, zoom 0...22, with `y` counted from the north (XYZ).
///
/// Eight bytes. Every value is a tile that exists: all initialisers from numbers or text return `nil` if a value is out
/// of range. Order is the order of ``hilbertID``: zoom by zoom, and along the Hilbert curve within a zoom.
public struct TileID: Hashable, Sendable {
    /// The deepest zoom of this module.
    ///
    /// At this zoom a tile is 1,024 units of the fixed-point world wide.
    public static let maxZoom = 22
    /// The one tile of zoom 0.
    public static let root = TileID(trusted: 0, 0, 0)

    /// zoom << 44 | x << 22 | y.
    private let packed: UInt64

    /// The zoom, 0...22.
    public var zoom: Int { Int(packed >> 44) }
    /// The column, 0..<2^zoom, from the west.
    public var x: Int { Int(packed >> 22) & 0x3F_FFFF }
    /// The row, 0..<2^zoom, from the north.
    public var y: Int { Int(packed & 0x3F_FFFF) }
    /// The row as MBTiles and CARTO count it, from the south.
    public var tmsY: Int { (1 << zoom) - 1 - y }

    /// Makes a tile, or `nil` when the zoom is not 0...22 or a coordinate not 0..<2^zoom.
    public init?(zoom: Int, x: Int, y: Int) {
        guard (0...Self.maxZoom).contains(zoom), x >= 0, y >= 0, x < 1 << zoom, y < 1 << zoom else { return nil }
        self.init(trusted: zoom, x, y)
    }

    /// Makes a tile from a row counted from the south, or `nil` out of range.
    public init?(zoom: Int, x: Int, tmsY: Int) {
        guard (0...Self.maxZoom).contains(zoom), tmsY >= 0, tmsY < 1 << zoom else { return nil }
        self.init(zoom: zoom, x: x, y: (1 << zoom) - 1 - tmsY)
    }

    /// Makes a tile whose numbers the caller has checked already.
    init(trusted zoom: Int, _ x: Int, _ y: Int) {
        packed = UInt64(truncatingIfNeeded: zoom << 44 | x << 22 | y)
    }

    /// The tile one zoom up that holds this one, `nil` for the root.
    public var parent: TileID? { zoom == 0 ? nil : TileID(trusted: zoom - 1, x >> 1, y >> 1) }

    /// The tile of a zoom at or above this one that holds it, `nil` when the zoom is negative or deeper than this tile.
    public func ancestor(atZoom ancestorZoom: Int) -> TileID? {
        guard ancestorZoom >= 0, ancestorZoom <= zoom else { return nil }
        return TileID(trusted: ancestorZoom, x >> (zoom - ancestorZoom), y >> (zoom - ancestorZoom))
    }

    /// The four tiles one zoom down: north-west, north-east, south-west, south-east.
    ///
    /// Empty at zoom 22.
    public var children: [TileID] {
        guard zoom < Self.maxZoom else { return [] }
        return (0..<4).map { TileID(trusted: zoom + 1, x << 1 | $0 & 1, y << 1 | $0 >> 1) }
    }

    /// Whether the other tile is this one or lies below it.
    public func contains(_ other: TileID) -> Bool { other.ancestor(atZoom: zoom) == self }
}
