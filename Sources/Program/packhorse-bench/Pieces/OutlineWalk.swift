import Tiles

/// The minimum for a cover: walks along the outline and sorts the tiles on it, without filling the inside.
///
/// Uses floating point and ignores corner cases, so its tiles are not exact. It only serves as a fast baseline.
enum OutlineWalk {
    /// The number of different tiles along the rings of a shape at a zoom.
    static func tiles(_ shape: MercatorShape, zoom: Int) -> Int {
        let unit = MercatorPoint.world >> Int64(zoom)
        var found: [UInt64] = []
        for ring in shape.polygons.joined() {
            guard var from = ring.last else { continue }
            for to in ring {
                walk(from: from, to: to, unit: unit, into: &found)
                from = to
            }
        }
        found.sort()
        var count = 0
        var last: UInt64?
        for tile in found where tile != last {
            count += 1
            last = tile
        }
        return count
    }

    private static func walk(from: MercatorPoint, to: MercatorPoint, unit: Int64, into found: inout [UInt64]) {
        var x = from.x / unit
        var y = from.y / unit
        let (width, height) = (to.x - from.x, to.y - from.y)
        let steps = abs(to.x / unit - x) + abs(to.y / unit - y)
        var nextX = width == 0 ? .infinity : Double(width > 0 ? (x + 1) * unit - from.x : from.x - x * unit)
        var nextY = height == 0 ? .infinity : Double(height > 0 ? (y + 1) * unit - from.y : from.y - y * unit)
        nextX /= Double(max(1, abs(width)))
        nextY /= Double(max(1, abs(height)))
        found.append(UInt64(y) << 32 | UInt64(x))
        for _ in 0..<steps {
            if nextX < nextY {
                x = max(0, x + width.signum())
                nextX += Double(unit) / Double(max(1, abs(width)))
            } else {
                y = max(0, y + height.signum())
                nextY += Double(unit) / Double(max(1, abs(height)))
            }
            found.append(UInt64(y) << 32 | UInt64(x))
        }
    }
}
