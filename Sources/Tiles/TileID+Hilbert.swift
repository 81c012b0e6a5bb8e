/// The Hilbert curve as PMTiles walks it, as a machine of four orientations.
///
/// An orientation is two bits: `swap` (x and y change places) and `flip` (both are mirrored); the two commute, so four
/// orientations are all there are. Quadrants are numbered `y * 2 + x` with y from the north.
enum HilbertCurve {
    /// For each orientation and place along the curve: the quadrant (bits 0-1) and the orientation inside it (bits 2-3).
    ///
    /// Orientation `s | f << 1` begins at entry `4 * orientation`, four bits an entry.
    static let walk: UInt64 = {
        var table: UInt64 = 0
        for orientation in 0..<4 {
            for place in 0..<4 {
                // Along the plain curve: (0,0) (0,1) (1,1) (1,0).
                let plainX = place >> 1
                let plainY = (place ^ place >> 1) & 1
                let next = orientation ^ (plainY == 0 ? 1 | plainX << 1 : 0)
                let swap = orientation & 1
                let flip = orientation >> 1
                let x = (swap == 0 ? plainX : plainY) ^ flip
                let y = (swap == 0 ? plainY : plainX) ^ flip
                table |= UInt64(y << 1 | x | next << 2) << UInt64(4 * (4 * orientation + place))
            }
        }
        return table
    }()

    /// The quadrant that comes at a place (0...3) of an orientation, and the orientation inside it.
    @inline(__always)
    static func step(_ table: UInt64, _ orientation: UInt32, _ place: UInt32) -> (quadrant: UInt32, inside: UInt32) {
        let entry = UInt32(truncatingIfNeeded: table >> UInt64(orientation << 4 | place << 2))
        return (entry & 3, entry >> 2 & 3)
    }

    /// The orientation inside a quadrant, and the place of the quadrant, by arithmetic on the two bits.
    @inline(__always)
    static func locate(_ orientation: Int, x: Int, y: Int) -> (place: Int, inside: Int) {
        let flip = orientation >> 1
        let swap = orientation & 1
        let plainX = (swap == 0 ? x : y) ^ flip
        let plainY = (swap == 0 ? y : x) ^ flip
        let place = plainX << 1 | plainX ^ plainY
        return (place, orientation ^ (plainY == 0 ? 1 | plainX << 1 : 0))
    }

    /// The number of tiles of all zooms above a zoom, (4^zoom - 1) / 3: the first id of the zoom.
    @inline(__always)
    static func firstID(ofZoom zoom: Int) -> UInt64 { ((1 << UInt64(2 * zoom)) - 1) / 3 }
}

extension TileID: Comparable {
    /// The PMTiles id: all tiles of lower zooms come first, then the place on the Hilbert curve of the zoom.
    public var hilbertID: UInt64 {
        let (x, y) = (x, y)
        var orientation = 0
        var index: UInt64 = 0
        for bit in stride(from: zoom - 1, through: 0, by: -1) {
            let (place, inside) = HilbertCurve.locate(orientation, x: x >> bit & 1, y: y >> bit & 1)
            index = index << 2 | UInt64(place)
            orientation = inside
        }
        return HilbertCurve.firstID(ofZoom: zoom) + index
    }

    /// Makes the tile with a PMTiles id, or `nil` when the id lies beyond zoom 22.
    public init?(hilbertID: UInt64) {
        guard hilbertID < HilbertCurve.firstID(ofZoom: Self.maxZoom + 1) else { return nil }
        // The first id of zoom z is (4^z - 1) / 3, so 3 * id + 1 lies in 4^z ..< 4^(z + 1).
        let zoom = (63 - (3 * hilbertID + 1).leadingZeroBitCount) / 2
        let index = hilbertID - HilbertCurve.firstID(ofZoom: zoom)
        let table = HilbertCurve.walk
        var orientation: UInt32 = 0
        var x = 0
        var y = 0
        for bit in stride(from: 2 * zoom - 2, through: 0, by: -2) {
            let step = HilbertCurve.step(table, orientation, UInt32(truncatingIfNeeded: index >> UInt64(bit)) & 3)
            x = x << 1 | Int(step.quadrant & 1)
            y = y << 1 | Int(step.quadrant >> 1)
            orientation = step.inside
        }
        self.init(trusted: zoom, x, y)
    }

    /// Whether one tile comes before another in the order of ``hilbertID``.
    public static func < (left: TileID, right: TileID) -> Bool {
        left.zoom == right.zoom ? left.hilbertID < right.hilbertID : left.zoom < right.zoom
    }

    /// The orientation of the Hilbert curve inside this tile.
    var hilbertOrientation: UInt32 {
        var orientation = 0
        for bit in stride(from: zoom - 1, through: 0, by: -1) {
            orientation = HilbertCurve.locate(orientation, x: x >> bit & 1, y: y >> bit & 1).inside
        }
        return UInt32(orientation)
    }
}
