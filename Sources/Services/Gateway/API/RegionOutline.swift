internal import Foundation
package import Regions
internal import TextFormats
internal import Tiles

/// The outline of a region as GeoJSON, with as many points as a map of a zoom can show, or with all that the tree has.
package enum RegionOutline {
    /// A `Feature` with a `MultiPolygon`.
    ///
    /// - Parameter zoom: Points closer than a pixel of this zoom become one; 0...14. `nil` for all points, and for the island boxes, which
    ///   are a part of the region's tiles but are not drawn: the outline then has the same tiles as the region.
    package static func geoJSON(_ region: Region, in tree: RegionTree, zoom: Int?) -> [UInt8] {
        // A tile has 256 pixels.
        let pixel = zoom.map { MercatorPoint.world >> Int64($0 + 8) }
        var polygons: [JSONValue] = []
        let shape = zoom == nil ? tree.area(of: region.id) : tree.shape(of: region.id)
        for polygon in shape.polygons {
            let rings = polygon.map { ring in pixel.map { simplified(ring, $0) } ?? ring }.filter { $0.count >= 3 }.map
            { ($0, area($0)) }
            // Shells turn in the direction of the largest ring, holes in the other one.
            guard let largest = rings.max(by: { abs($0.1) < abs($1.1) }) else { continue }
            var shells = rings.filter { $0.1 * largest.1 > 0 }.map {
                (ring: $0.0, area: $0.1, holes: [[MercatorPoint]]())
            }
            shells.sort { abs($0.area) < abs($1.area) }
            for (hole, size) in rings where size * largest.1 < 0 {
                // A hole belongs to the smallest shell around it.
                guard
                    let index = shells.firstIndex(where: { contains($0.ring, hole[0]) })
                        ?? shells.firstIndex(where: { shell in hole.contains { contains(shell.ring, $0) } })
                else { continue }
                shells[index].holes.append(size < 0 ? hole.reversed() : hole)
            }
            // RFC 7946: shells turn against the clock, holes with it.
            for shell in shells {
                let ring = shell.area > 0 ? shell.ring.reversed() : shell.ring
                polygons.append(.array(([ring] + shell.holes).map { coordinates($0, isExact: zoom == nil) }))
            }
        }
        return JSONDocument.encode(
            JSONValue.object([
                "type": .string("Feature"), "id": .string(region.id),
                "properties": .object(["name": .string(region.name("en")), "kind": .string(region.kind.rawValue)]),
                "geometry": .object(["type": .string("MultiPolygon"), "coordinates": .array(polygons)]),
            ]))
    }

    private static func simplified(_ ring: [MercatorPoint], _ pixel: Int64) -> [MercatorPoint] {
        var result = AreaOutline.moved(ring, to: pixel)
        if result.count > 1, result.first == result.last { result.removeLast() }
        return result
    }

    /// Twice the area; positive for a ring that is clockwise on the screen.
    private static func area(_ ring: [MercatorPoint]) -> Double {
        var sum = 0.0
        for (index, point) in ring.enumerated() {
            let next = ring[index + 1 == ring.count ? 0 : index + 1]
            sum += Double(point.x) * Double(next.y) - Double(next.x) * Double(point.y)
        }
        return sum
    }

    /// Whether a point is inside a ring, by the even-odd rule.
    private static func contains(_ ring: [MercatorPoint], _ point: MercatorPoint) -> Bool {
        var isInside = false
        var last = ring[ring.count - 1]
        for next in ring {
            if (next.y > point.y) != (last.y > point.y) {
                let share = Double(point.y - next.y) / Double(last.y - next.y)
                if Double(point.x) < Double(next.x) + share * Double(last.x - next.x) { isInside.toggle() }
            }
            last = next
        }
        return isInside
    }

    /// Longitudes and latitudes, closed; with seven decimals unless exact.
    private static func coordinates(_ ring: [MercatorPoint], isExact: Bool) -> JSONValue {
        func rounded(_ degrees: Double) -> JSONValue { .number(isExact ? degrees : (degrees * 1e7).rounded() / 1e7) }
        return .array(
            (ring + [ring[0]]).map { .array([rounded($0.longitude), rounded($0.latitude)]) })
    }
}
