import Foundation

extension Geometry {
    /// The smallest radius of curvature of WGS 84 (the meridian's at the equator, a (1 - e²)), in metres.
    ///
    /// Dividing by it makes a circle on the sphere that holds the circle of the same radius on the ellipsoid, at any place and in any direction.
    private static let radius = 6_335_439.3

    /// Polygons around circles: they contain everything within a distance of the points, and little more.
    ///
    /// Each polygon of 64 edges holds the whole geodesic circle: its edges touch, on the Mercator plane, the circle on a sphere
    /// that is nowhere flatter than WGS 84, so it is at most 0.9 % wider than the circle. Circles over the antimeridian have
    /// longitudes beyond ±180; circles around a pole become bands of steps up to it.
    ///
    /// - Parameters:
    ///   - points: Degrees; points that are not finite are left out, latitudes are moved into ±90.
    ///   - radiusMeters: 0 or more; 0 gives the points themselves. At 19,900 km and more it is the world.
    public static func circles(points: [Coordinate], radiusMeters: Double) -> Geometry {
        let points = points.filter { $0.longitude.isFinite && $0.latitude.isFinite }
        guard radiusMeters > 0 else { return Geometry(points: points) }
        return Geometry(polygons: points.map { [ring(around: $0, radius: radiusMeters / radius)] })
    }

    /// A ring around the circle of an angular radius on the sphere.
    private static func ring(around center: Coordinate, radius: Double) -> [Coordinate] {
        let latitude = max(-90, min(90, center.latitude)) * .pi / 180
        let longitude = center.longitude.remainder(dividingBy: 360)
        // A hundred-millionth of slack covers the rounding of doubles; rounding to units is covered by another 2 cm.
        let distance = radius * (1 + 1e-8) + 3e-9
        let toPole = .pi / 2 - abs(latitude)
        if distance >= toPole - 1e-3 {
            return around(
                pole: latitude >= 0 ? 1 : -1, latitude: latitude, longitude: longitude,
                distance: max(distance, toPole + 1e-7))
        }
        // On the plane of longitude u and Mercator height v (from the centre), the circle is where
        //   f = cos(lat) cos(u) - cos(distance) cosh(v) + sin(lat) sinh(v) = 0,
        // a convex curve as long as no pole lies within. The polygon is made of its tangents, in the form
        // a u + b v = c with (a, b) the gradient; neighbours meet in its corners.
        let tangents = (0..<64).map { index -> (a: Double, b: Double, c: Double) in
            let bearing = 2 * Double.pi * Double(index) / 64
            let sine = sin(latitude) * cos(distance) + cos(latitude) * sin(distance) * cos(bearing)
            let u = atan2(sin(bearing) * sin(distance) * cos(latitude), cos(distance) - sin(latitude) * sine)
            let v = atanh(sine)
            let a = -cos(latitude) * sin(u)
            let b = -cos(distance) * sinh(v) + sin(latitude) * cosh(v)
            return (a, b, a * u + b * v)
        }
        let corners = tangents.indices.map { index -> (u: Double, v: Double) in
            let (one, two) = (tangents[index], tangents[(index + 1) % tangents.count])
            let determinant = one.a * two.b - two.a * one.b
            return ((one.c * two.b - two.c * one.b) / determinant, (one.a * two.c - two.a * one.c) / determinant)
        }
        // What lies beyond the square world is cut off here, for moving corners to its edge would bend the polygon inwards.
        // A circle beyond it altogether becomes a line along the edge.
        let shown = [1.0, -1.0].reduce(corners) { cut($0, side: $1) }
        return (shown.isEmpty ? corners : shown).map { corner in
            let limit = BoundingBox.maxLatitude
            return Coordinate(
                longitude: longitude + corner.u * 180 / .pi,
                latitude: max(-limit, min(limit, asin(tanh(corner.v)) * 180 / .pi)))
        }
    }

    /// The part of a convex polygon with side * v <= pi, where the square world ends.
    private static func cut(_ corners: [(u: Double, v: Double)], side: Double) -> [(u: Double, v: Double)] {
        var kept: [(u: Double, v: Double)] = []
        for (index, corner) in corners.enumerated() {
            let next = corners[(index + 1) % corners.count]
            let isInside = side * corner.v <= .pi
            if isInside { kept.append(corner) }
            if isInside != (side * next.v <= .pi) {
                let share = (side * .pi - corner.v) / (next.v - corner.v)
                kept.append((corner.u + share * (next.u - corner.u), side * .pi))
            }
        }
        return kept
    }

    /// A band around the world that holds a circle with a pole in it: its edge in steps, each at the latitude of the end that
    /// is farther from the pole.
    private static func around(
        pole: Double, latitude: Double, longitude: Double, distance: Double
    ) -> [Coordinate] {
        let far = pole * latitude - distance
        // With both poles inside, or nearly, the circle is treated as the whole world.
        guard far > -.pi / 2 + 1e-6 else {
            return [
                Coordinate(longitude: -180, latitude: 90), Coordinate(longitude: 180, latitude: 90),
                Coordinate(longitude: 180, latitude: -90), Coordinate(longitude: -180, latitude: -90),
            ]
        }
        let steps = 128
        // The latitude of the circle's edge at a difference of longitude, by bisection: the distance to the centre grows
        // along the meridian from the pole outwards wherever the pole is inside.
        func edge(_ difference: Double) -> Double {
            func separation(_ angle: Double) -> Double {
                acos(
                    max(-1, min(1, sin(pole * latitude) * sin(angle) + cos(latitude) * cos(angle) * cos(difference))))
            }
            // Along the half meridian the circle is one arc; its end is searched outwards from the far side of the pole.
            var inside = Double.pi / 2
            var outside = far
            if separation(inside) > distance { return inside }
            for _ in 0..<60 {
                let middle = (inside + outside) / 2
                if separation(middle) <= distance { inside = middle } else { outside = middle }
            }
            return outside
        }
        var ring: [Coordinate] = []
        for step in -steps..<steps {
            // The edge is farthest from the pole at the centre's own meridian.
            let nearer = step < 0 ? step + 1 : step
            let edge = edge(Double(nearer) / Double(steps) * .pi) - 1e-9
            for end in [step, step + 1] {
                ring.append(
                    Coordinate(
                        longitude: longitude + 180 * Double(end) / Double(steps),
                        latitude: max(-90, pole * edge * 180 / .pi)))
            }
        }
        ring.append(Coordinate(longitude: longitude + 180, latitude: pole * 90))
        ring.append(Coordinate(longitude: longitude - 180, latitude: pole * 90))
        return ring
    }
}
