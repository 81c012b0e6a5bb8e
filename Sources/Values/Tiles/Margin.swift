internal import Errors
import Foundation

/// A distance around an area, in metres; from some zooms on it may be shorter.
package struct Margin: Hashable, Sendable {
    /// The largest distance, in metres.
    package static let limit = 10_000_000.0

    /// A distance, and the first zoom that has it.
    package struct Step: Hashable, Sendable {
        package let zoom: Int
        package let meters: Double

        package init(zoom: Int, meters: Double) {
            self.zoom = zoom
            self.meters = meters
        }
    }

    /// The first begins at zoom 0; zooms rise, distances fall.
    package let steps: [Step]

    /// - Throws: ``TilesError`` `.badMargin` for a distance outside 0...10,000 km, for zooms that do not rise from 0, and for a distance
    ///   that grows with the zoom.
    package init(_ steps: [Step]) throws(TilesError) {
        guard let first = steps.first, first.zoom == 0 else {
            throw TilesError(
                .badMargin, "A margin has no distance from zoom 0; expected for example 5km or 5km,14:500m.")
        }
        for step in steps {
            guard step.meters >= 0, step.meters <= Self.limit else {
                throw TilesError(.badMargin, "A margin is \(step.meters) metres; expected 0 to 10,000 km.")
            }
            guard (0...TileID.maxZoom).contains(step.zoom) else {
                throw TilesError(.badMargin, "A margin begins at zoom \(step.zoom); expected 0...\(TileID.maxZoom).")
            }
        }
        for (one, next) in zip(steps, steps.dropFirst()) {
            guard one.zoom < next.zoom, one.meters >= next.meters else {
                throw TilesError(
                    .badMargin,
                    "A margin goes from \(one.meters) metres at zoom \(one.zoom) to \(next.meters) metres at zoom \(next.zoom); "
                        + "expected zooms that rise and distances that fall: a tile's parents are always included.")
            }
        }
        self.steps = steps
    }

    /// The spans of zooms with one distance, as far as a deepest zoom: the last zoom of each, and its distance.
    func spans(to maxZoom: Int) -> [(last: Int, meters: Double)] {
        steps.indices.compactMap { index in
            guard steps[index].zoom <= maxZoom else { return nil }
            let next = index + 1 < steps.count ? steps[index + 1].zoom - 1 : maxZoom
            return (min(next, maxZoom), steps[index].meters)
        }
    }

    /// The distance at the deepest zooms.
    var narrowest: Double { steps.last?.meters ?? 0 }
    /// The distance at zoom 0.
    package var widest: Double { steps.first?.meters ?? 0 }
}

extension BoundingBox {
    /// The box with a distance around it, a little wide; around the world where it reaches near a pole.
    package func widened(byMeters meters: Double) -> BoundingBox {
        let degrees = meters / 6_335_439 * 180 / .pi
        let (bottom, top) = (Swift.max(-90, south - degrees), Swift.min(90, north + degrees))
        let cosine = cos(Swift.max(abs(bottom), abs(top)) * .pi / 180)
        let wide = cosine > 0.01 ? degrees / cosine : 360
        guard width + 2 * wide < 360 else {
            return BoundingBox(trustedWest: -180, south: bottom, east: 180, north: top)
        }
        return BoundingBox(
            trustedWest: Antimeridian.normalized(west - wide, isWest: true), south: bottom,
            east: Antimeridian.normalized(east + wide, isWest: false), north: top)
    }
}
