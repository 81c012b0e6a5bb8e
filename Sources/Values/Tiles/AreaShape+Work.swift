import Foundation

extension AreaShape {
    /// About how many times covering the shape compares an edge with a tile: a bound for the time and the memory that ``mask(_:within:)``
    /// takes, made in one pass over the positions.
    ///
    /// An edge meets about one tile for each tile's side of its length; its margin has that border on both sides and around its ends.
    /// Simplifying only makes it less.
    package func work(_ maxZoom: Int, within margin: Margin? = nil) -> Double {
        let side = Double(MercatorPoint.world) / Double(1 << TileMask.clamped(maxZoom))
        let meters = margin.map { $0.spans(to: TileMask.clamped(maxZoom)).map(\.meters).max() ?? 0 } ?? 0
        // A metre on the plane is longer by 1 / cos of the latitude; at the map's edge by 11.6.
        let perMeter = Double(MercatorPoint.world) / 40_075_017
        var sum = 0.0
        func add(_ one: MercatorPoint, _ two: MercatorPoint) {
            var length = Double(abs(one.x - two.x)) + Double(abs(one.y - two.y))
            if meters > 0 {
                let latitude = one.latitude * .pi / 180
                length = 2 * length + 8 * meters * perMeter / max(0.05, cos(latitude))
            }
            sum += 1 + length / side
        }
        for ring in withoutLines.polygons.joined() {
            guard var last = ring.last else { continue }
            for point in ring {
                add(last, point)
                last = point
            }
        }
        for point in withoutLines.points { add(point, point) }
        lines.forEachGroup(of: PackedLines.longest) { group in
            for line in group {
                guard var last = line.first else { continue }
                for point in line {
                    add(last, point)
                    last = point
                }
            }
        }
        return sum
    }
}
