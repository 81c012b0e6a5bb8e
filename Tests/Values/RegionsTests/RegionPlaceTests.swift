import Testing
import Tiles

@testable import Regions

struct RegionPlaceTests {
    let tree: RegionTree

    init() throws { tree = try RegionTree.embedded() }

    /// Places inland of the towns named, by longitude and latitude.
    @Test(arguments: [
        (24.75, 59.40, "EE"), (34.1, 44.95, "UA"), (33.6, 44.65, "UA"), (-118.2, 34.05, "US-CA"),
        (-149.9, 61.2, "US-AK"), (11.57, 48.14, "DE-BY"),
        (13.4, 52.52, "DE-BE"), (2.35, 48.85, "FR-IDF"), (9.1, 42.1, "FR-20R"), (55.5, -21.1, "RE"),
        (-16.5, 28.3, "ES-CN"), (2.9, 39.6, "ES-IB"),
        (30.3, 59.95, "RU-SPE"), (-172.9, 64.4, "RU-CHU"), (0.0, -80.0, "AQ"), (12.453, 41.9035, "VA"),
        (12.5, 41.9, "IT"), (-14.0, 24.5, "EH"), (-12.2, 24.0, "EH"),
        (44.06, 9.56, "SO"), (33.36, 35.3, "CY"), (6.13, 49.61, "LU"), (15.6, 78.2, "SJ"), (121.5, 25.0, "TW"),
        (20.9, 42.6, "XK"),
        (37.6, 55.75, "RU-MOW"), (37.9, 55.4, "RU-MOS"), (85.9, 51.9, "RU-AL"), (28.5, -29.6, "LS"), (73.5, 4.2, "MV"),
        (73.1, 3.0, "MV"),
        (-63.2, 45.0, "CA-NS"), (-3.19, 55.95, "GB-SCT"), (63.32, 45.95, "KZ"),
    ])
    func findsTheSmallestRegion(_ longitude: Double, _ latitude: Double, _ id: String) {
        #expect(tree.smallest(longitude: longitude, latitude: latitude)?.id == id)
    }

    @Test func saysNothingFarOutAtSeaOrForNonsense() {
        #expect(tree.smallest(longitude: -30, latitude: 30) == nil)
        #expect(tree.smallest(longitude: .nan, latitude: 0) == nil)
        #expect(tree.smallest(longitude: 0, latitude: .infinity) == nil)
        #expect(tree.smallest(longitude: 181, latitude: 0) == nil)
        #expect(tree.smallest(longitude: 0, latitude: -91) == nil)
    }

    @Test func borderPointsBelongToOneNeighbour() throws {
        // Every corner of Luxembourg lies on a border that it shares with exactly one neighbour, or with two where three meet.
        let outline = try tree.atlas.outline(of: #require(tree.atlas.index(of: "LU"))).joined()
        for corner in outline {
            let owners = try ["LU", "DE-RP", "DE-SL", "FR-GES", "BE"].filter { id in
                PointInRings.contains(corner, try tree.atlas.outline(of: #require(tree.atlas.index(of: id))))
            }
            #expect(owners.count == 1, "\(corner.longitude) \(corner.latitude) \(owners)")
        }
    }
}
