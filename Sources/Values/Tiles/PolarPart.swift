import Foundation

/// A part of a shape near a pole, as a box of latitudes and columns, and what lies within a margin of it: bands of latitude.
///
/// Two places at the angle d on the sphere have sin²(d/2) = sin²(difference of latitudes / 2) + cos f1 cos f2 sin²(difference of longitudes / 2).
/// So a band reaches as far along the parallels as the nearest and the steepest latitudes of part and band allow.
struct PolarPart {
    /// How many bands there are between the southern and the northern end of the margin.
    private static let bandCount = 128
    /// A part is at most this share of the margin high and wide.
    private static let share = 1.0 / 64
    private static let limit = BoundingBox.maxLatitude * .pi / 180

    /// Columns, in units of ``MercatorPoint``.
    private(set) var west: Double
    private(set) var east: Double
    /// Radians.
    private(set) var south: Double
    private(set) var north: Double

    /// A band between two latitudes.
    struct Band {
        /// Rows, in units of ``MercatorPoint``.
        let north: Double
        let south: Double
        /// How far it reaches from the part to the west and to the east.
        let half: Double
    }

    init(_ one: Corridor.Place, _ two: Corridor.Place) {
        (west, east) = (min(one.x, two.x), max(one.x, two.x))
        let (first, second) = (one.latitude, two.latitude)
        (south, north) = (min(first, second), max(first, second))
    }

    func joined(with other: PolarPart) -> PolarPart {
        var part = self
        (part.west, part.east) = (min(west, other.west), max(east, other.east))
        (part.south, part.north) = (min(south, other.south), max(north, other.north))
        return part
    }

    /// Whether the part is so small that covering it as a box adds little.
    func isSmall(for angle: Double) -> Bool {
        let nearest = south * north <= 0 ? 0 : min(abs(south), abs(north))
        let wide = (east - west) / Corridor.world * 2 * .pi * cos(nearest)
        return max(north - south, wide) <= angle * Self.share
    }

    /// The bands of a margin; those that reach around the world are joined.
    func bands(angle: Double) -> [Band] {
        let (low, high) = (max(-Self.limit, south - angle), min(Self.limit, north + angle))
        guard low < high else { return [] }
        let farthest = min(Self.limit, max(abs(south), abs(north)))
        let whole = pow(sin(min(angle, .pi) / 2), 2)
        var bands: [Band] = []
        for index in 0..<Self.bandCount {
            let bottom = low + (high - low) * Double(index) / Double(Self.bandCount)
            let top =
                index + 1 == Self.bandCount ? high : low + (high - low) * Double(index + 1) / Double(Self.bandCount)
            let gap = max(0, bottom - north, south - top)
            let rest = max(0, whole - pow(sin(gap / 2), 2))
            let share = (rest / (cos(farthest) * cos(max(abs(bottom), abs(top))))).squareRoot() * (1 + 1e-9)
            let half = share >= 1 ? Corridor.world : 2 * asin(share) / (2 * .pi) * Corridor.world * (1 + 1e-9)
            let band = Band(north: Self.row(top), south: Self.row(bottom), half: half)
            if half >= Corridor.world, let last = bands.last, last.half >= Corridor.world {
                bands[bands.count - 1] = Band(north: band.north, south: last.south, half: half)
            } else {
                bands.append(band)
            }
        }
        return bands
    }

    private static func row(_ latitude: Double) -> Double {
        if latitude >= limit { return 0 }
        if latitude <= -limit { return Corridor.world }
        return (0.5 - atanh(sin(latitude)) / (2 * .pi)) * Corridor.world
    }
}
