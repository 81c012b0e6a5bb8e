import Testing
import Tiles

@testable import Gateway

/// What is drawn of a file with an area.
@Suite(.timeLimit(.minutes(15))) struct AreaOutlineTests {
    private static func positions(_ outline: AreaOutline) -> Int {
        outline.lines.reduce(outline.points.count) { $0 + $1.count }
    }

    @Test func aLongTrackIsMadeCoarserAndKeepsItsEnds() throws {
        var shape = AreaShape()
        // 100,000 positions of one metre each, with steps to both sides.
        shape.add(
            route: (0..<100_000).map { number in
                Coordinate(longitude: 24 + Double(number) * 1e-5, latitude: 59 + Double(number % 2) * 1e-5)
            })
        let outline = AreaOutline(shape)
        #expect(Self.positions(outline) <= AreaOutline.mostPositions)
        #expect(Self.positions(outline) > 1_000)
        let (first, last) = (try #require(outline.lines.first?.first), try #require(outline.lines.last?.last))
        #expect(abs(first[0] - 24) < 1e-3 && abs(first[1] - 59) < 1e-3, "\(first)")
        #expect(abs(last[0] - 25) < 1e-3 && abs(last[1] - 59) < 1e-3, "\(last)")
    }

    @Test func aFewPositionsStayWhereTheyAre() {
        var shape = AreaShape()
        shape.add(route: [Coordinate(longitude: 179.5, latitude: -10), Coordinate(longitude: 180.25, latitude: -10.5)])
        shape.add(Geometry(points: [Coordinate(longitude: -70, latitude: 80)]))
        let outline = AreaOutline(shape)
        let found = (outline.lines.joined() + outline.points).joined()
        // A line across the antimeridian is there at both edges of the world.
        #expect(found.count == 10)
        for (one, wanted) in zip(found, [-180.5, -10, -179.75, -10.5, 179.5, -10, 180.25, -10.5, -70, 80]) {
            #expect(abs(one - wanted) < 1e-5, "\(one) \(wanted)")
        }
    }

    /// Lines that no pixel makes equal, and places all over the world.
    @Test func whatIsTooMuchIsLeftOut() {
        var shape = AreaShape()
        for number in 0..<300 {
            shape.add(
                Geometry(lines: [
                    (0..<100).map {
                        Coordinate(
                            longitude: $0.isMultiple(of: 2) ? -179 : 179, latitude: Double((number * 7 + $0) % 160) - 80
                        )
                    }
                ]))
        }
        shape.add(
            Geometry(
                points: (0..<40_000).map {
                    Coordinate(longitude: Double($0 % 360) - 180, latitude: Double($0 % 169) - 84)
                }))
        let outline = AreaOutline(shape)
        #expect(Self.positions(outline) <= AreaOutline.mostPositions)
        #expect(Self.positions(outline) > 100)
    }
}
