internal import Regions
internal import Tiles

/// A country or region of the demo world: its rings, its names, and the place of its label.
struct LandPart: Sendable {
    let region: Region
    let rings: [LandRing]
    /// Where the label stands: inside the largest ring, or in the middle of the box of a region without ground.
    let label: MercatorPoint
    /// The first zoom with a label.
    let labelZoom: Int
    /// How prominent it is: the zoom at which its largest ring would fill a tile, 0 for the largest.
    let rank: Int

    init(_ region: Region, _ shape: MercatorShape) {
        self.region = region
        let rings = shape.polygons.joined().filter { $0.count > 2 }.map { LandRing($0) }
        self.rings = rings
        let largest = rings.filter { !$0.isHole }.max { Self.size($0.box) < Self.size($1.box) }
        let center = region.bounds.center
        label =
            largest.flatMap { Self.inside($0, rings) }
            ?? MercatorPoint(longitude: center.longitude, latitude: center.latitude)
        let width = largest.map { max($0.box.maxX - $0.box.minX, $0.box.maxY - $0.box.minY) } ?? 0
        rank = (0...16).first { width << Int64($0) >= MercatorPoint.world } ?? 16
        // A label is due when its ground is a sixteenth of a tile wide; countries by zoom 5, regions from 4 to 8.
        labelZoom = region.kind == .country ? min(5, max(0, rank - 4)) : min(8, max(4, rank - 4))
    }

    private static func size(_ box: ClipBox) -> Int64 {
        (box.maxX - box.minX) / 65_536 * ((box.maxY - box.minY) / 65_536)
    }

    /// The middle of the widest of seven cross-sections of a ring, with the holes of the others taken out.
    private static func inside(_ ring: LandRing, _ all: [LandRing]) -> MercatorPoint? {
        let box = ring.box
        let near = all.filter { $0.box.meets(box) }
        var best: (width: Int64, point: MercatorPoint)?
        for part in [4, 3, 5, 2, 6, 1, 7] as [Int64] {
            let y = box.minY + (box.maxY - box.minY) * part / 8
            let found = near.flatMap { Self.crossings(of: $0, at: y) }.sorted()
            for index in stride(from: 0, to: found.count - 1, by: 2) {
                let width = found[index + 1] - found[index]
                if width > best?.width ?? 0 {
                    best = (width, MercatorPoint(x: found[index] + width / 2, y: y))
                }
            }
        }
        return best?.point
    }

    private static func crossings(of ring: LandRing, at y: Int64) -> [Int64] {
        guard var previous = ring.points.last, ring.box.minY <= y, y <= ring.box.maxY else { return [] }
        var result: [Int64] = []
        for point in ring.points {
            if (point.y > y) != (previous.y > y) {
                let step = Int128(point.x - previous.x) * Int128(y - previous.y) / Int128(point.y - previous.y)
                result.append(previous.x + Int64(truncatingIfNeeded: step))
            }
            previous = point
        }
        return result
    }
}
