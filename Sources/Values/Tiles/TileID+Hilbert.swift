/// The Hilbert curve of PMTiles, as a state machine with four orientations.
///
/// An orientation is two bits: `swap` (x and y change places) and `flip` (both are mirrored); the two commute, so there
/// are exactly four orientations. Quadrants are numbered `y * 2 + x` with y from the north.
enum HilbertCurve {
    /// For each orientation and place along the curve: the quadrant (bits 0-1) and the orientation inside it (bits 2-3).
    ///
    /// Orientation `swap | flip << 1` begins at entry `4 * orientation`, four bits an entry. In the plain orientation the
    /// curve goes (0,0) (0,1) (1,1) (1,0); inside a quadrant with y = 0 it is swapped, and flipped as well when x = 1. A
    /// literal, because a computed table costs a check at each use; the test along neighbours fails for any other.
    static let walk: UInt64 = 0x1CEB_689F_A750_D324
    /// The same the other way: for each orientation and quadrant the place (bits 0-1) and the orientation inside.
    static let places: UInt64 = 0x8D3E_C79A_6B50_21F4

    /// The entry of a table for an orientation and a place or quadrant: the other of the two, and the orientation inside.
    @inline(__always)
    static func step(in table: UInt64, orientation: UInt32, index: UInt32) -> (value: UInt32, inside: UInt32) {
        let entry = UInt32(truncatingIfNeeded: table &>> UInt64(orientation &<< 4 | index &<< 2))
        return (entry & 3, entry &>> 2 & 3)
    }

    /// The number of tiles of all zooms above a zoom, (4^zoom - 1) / 3: the first id of the zoom.
    @inline(__always)
    static func firstID(ofZoom zoom: Int) -> UInt64 { ((1 << UInt64(2 * zoom)) - 1) / 3 }
}

extension TileID: Comparable {
    /// The PMTiles id: all tiles of lower zooms come first, then the place on the Hilbert curve of the zoom.
    public var hilbertID: UInt64 {
        let (x, y) = (UInt32(x), UInt32(y))
        var orientation: UInt32 = 0
        var index: UInt64 = 0
        for bit in stride(from: zoom - 1, through: 0, by: -1) {
            let shift = UInt32(truncatingIfNeeded: bit)
            let quadrant = (y &>> shift & 1) << 1 | x &>> shift & 1
            let step = HilbertCurve.step(in: HilbertCurve.places, orientation: orientation, index: quadrant)
            index = index << 2 | UInt64(step.value)
            orientation = step.inside
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
            let step = HilbertCurve.step(
                in: table, orientation: orientation, index: UInt32(truncatingIfNeeded: index >> UInt64(bit)) & 3)
            x = x << 1 | Int(step.value & 1)
            y = y << 1 | Int(step.value >> 1)
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
        var orientation: UInt32 = 0
        for bit in stride(from: zoom - 1, through: 0, by: -1) {
            let quadrant = UInt32(y >> bit & 1) << 1 | UInt32(x >> bit & 1)
            orientation = HilbertCurve.step(in: HilbertCurve.places, orientation: orientation, index: quadrant).inside
        }
        return orientation
    }
}
