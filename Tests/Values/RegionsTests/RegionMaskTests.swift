import Testing
import Tiles

@testable import Regions

struct RegionMaskTests {
    let tree: RegionTree

    init() throws { tree = try RegionTree.embedded() }

    /// Counted with shapely by ops/regions/check_counts.py, which shares no code with this.
    @Test(arguments: [
        ("EE", [6: 5, 8: 18, 10: 161, 12: 2002, 14: 29249]), ("LU", [6: 1, 8: 2, 10: 10, 12: 86, 14: 1140]),
        ("DE", [6: 6, 8: 57, 10: 691, 12: 9977, 14: 154_023]), ("NZ", [6: 15, 8: 59, 10: 466, 12: 5755, 14: 84563]),
        ("MC", [6: 1, 8: 1, 10: 2, 12: 2, 14: 13]), ("LI", [6: 1, 8: 1, 10: 2, 12: 8, 14: 69]),
        ("VA", [6: 1, 8: 1, 10: 1, 12: 2, 14: 3]),
        ("GI", [6: 1, 8: 1, 10: 1, 12: 1, 14: 4]), ("DE-BY", [6: 4, 8: 14, 10: 147, 12: 1868, 14: 27847]),
        ("UA", [6: 12, 8: 88, 10: 1044, 12: 15187, 14: 235_634]), ("EH", [6: 7, 8: 24, 10: 248, 12: 3603, 14: 55449]),
        ("IN", [6: 26, 8: 228, 10: 2776, 12: 40762]), ("FR", [6: 9, 8: 71, 10: 876, 12: 12686]),
        ("AQ", [6: 871, 8: 12585]),
        ("RU", [6: 328, 8: 4020, 10: 57326]), ("US", [6: 110, 8: 1130, 10: 15384]), ("154", [6: 78, 8: 660, 10: 7741]),
    ])
    func countsWhatAnIndependentProgramCounts(_ id: String, _ counts: [Int: UInt64]) {
        let mask = TileMask(covering: tree.shape(of: id), maxZoom: counts.keys.max() ?? 0)
        for (zoom, count) in counts { #expect(mask.count(atZoom: zoom) == count, "z\(zoom)") }
    }

    /// The prototype counted half-open tiles; closed squares are a few more.
    @Test(arguments: [
        ("RU", 10, 57324), ("US", 10, 15382), ("FJ", 10, 73), ("EE", 14, 29245), ("LU", 14, 1140), ("DE", 14, 154_010),
    ])
    func isCloseToTheCountsOfThePrototype(_ id: String, _ zoom: Int, _ count: Int) {
        let found = TileMask(covering: tree.shape(of: id), maxZoom: zoom).count(atZoom: zoom)
        #expect((UInt64(count)...UInt64(count + count / 200 + 1)).contains(found), "\(found)")
    }

    @Test func everyRegionHasTiles() {
        for region in tree.regions where region.kind >= .country {
            let mask = tree.mask(of: region.id, maxZoom: 9)
            #expect(mask.count(atZoom: 9) > 0, "\(region.id)")
        }
    }

    @Test(arguments: ["DE", "FR", "154", "029", "UA"])
    func aParentIsTheUnionOfItsChildren(_ id: String) {
        let whole = tree.mask(of: id, maxZoom: 11)
        let parts = tree.children(of: id).map { tree.mask(of: $0.id, maxZoom: 11) }
        guard !parts.isEmpty else { return }
        #expect(parts.reduce(TileMask(empty: 11)) { $0.union($1) } == whole)
    }

    @Test func theWorldIsEveryTileAndItsGroundIsThatOfTheCountries() {
        let countries = tree.regions.filter { $0.kind == .country }.map { tree.mask(of: $0.id, maxZoom: 8) }
        let ground = countries.reduce(TileMask(empty: 8)) { $0.union($1) }
        #expect(TileMask(covering: tree.shape(of: "001"), maxZoom: 8).subtracting(ground).isEmpty)
        #expect(tree.mask(of: "001", maxZoom: 8) == TileMask(full: 8))
    }

    @Test func nothingLeaksAcrossTheAntimeridian() throws {
        let fiji = tree.mask(of: "FJ", maxZoom: 10)
        for tile in fiji.tiles(atZoom: 10, under: .root) {
            #expect(tile.x < 16 || tile.x > 1000, "\(tile)")
        }
        let russia = tree.mask(of: "RU", maxZoom: 6)
        // The Pacific between 165 W and the Baltic has no Russian tile.
        for tile in russia.tiles(atZoom: 6, under: .root) { #expect(tile.x <= 2 || tile.x >= 35, "\(tile)") }
        #expect(russia.tiles(atZoom: 6, under: .root).contains { $0.x == 0 })
    }

    @Test func antarcticaReachesTheLastRow() throws {
        let mask = tree.mask(of: "AQ", maxZoom: 8)
        // Natural Earth draws the Ross Ice Shelf, which comes so far south around 170 W, as sea.
        let lastRow = (0..<256).compactMap { TileID(zoom: 8, x: $0, y: 255) }.filter(mask.contains)
        #expect(lastRow.count > 220)
        #expect(mask.contains(try #require(TileID(zoom: 8, x: 128, y: 255))))
        #expect(!mask.contains(try #require(TileID(zoom: 8, x: 0, y: 100))))
    }

    @Test func disputedGroundIsInEveryMaskThePolicyNames() throws {
        func holds(_ id: String, _ longitude: Double, _ latitude: Double) throws -> Bool {
            let point = MercatorPoint(longitude: longitude, latitude: latitude)
            let tile = try #require(TileID(zoom: 12, x: Int(point.x >> 20), y: Int(point.y >> 20)))
            return tree.mask(of: id, maxZoom: 12).contains(tile)
        }
        #expect(try holds("UA", 34.1, 44.95))
        #expect(try !holds("RU", 34.1, 44.95))
        #expect(try holds("EH", -15.9, 23.7) && holds("MA", -15.9, 23.7))
        #expect(try holds("IN", 77.1, 35.5) && holds("PK", 77.1, 35.5))
        #expect(try holds("CY", 33.36, 35.3) && holds("SO", 44.06, 9.56))
    }

    @Test func islandBoxesAreInTheMaskAndNotInTheShape() throws {
        let point = MercatorPoint(longitude: 73.1, latitude: 3.0)
        let tile = try #require(TileID(zoom: 14, x: Int(point.x >> 18), y: Int(point.y >> 18)))
        #expect(tree.mask(of: "MV", maxZoom: 14).contains(tile))
        #expect(tree.mask(of: "142", maxZoom: 14).contains(tile))
        #expect(!TileMask(covering: tree.shape(of: "MV"), maxZoom: 14).contains(tile))
        let fourteen = ["SC", "MH", "MV", "KI", "TV", "TK", "IO", "UM", "FM", "PF", "PW", "TO", "MU", "FJ"]
        for id in fourteen { #expect(tree.nodes.contains { $0.region.id == id && !$0.boxes.isEmpty }, "\(id)") }
    }

    @Test func unknownIDsAreEmpty() {
        #expect(tree.mask(of: "ZZ", maxZoom: 5).isEmpty)
        #expect(tree.shape(of: "ZZ").isEmpty)
    }

    @Test func shellsRunClockwiseAndBordersInsideDropOut() throws {
        let germany = tree.shape(of: "DE")
        #expect(germany.polygons.count == 1)
        let rings = try #require(germany.polygons.first)
        let largest = try #require(rings.max { $0.count < $1.count })
        #expect(twiceArea(largest) > 0)
        // The sum over the outline is the sum over the Länder: what lies between them cancels.
        let parts = tree.children(of: "DE").flatMap { tree.shape(of: $0.id).polygons.joined() }
        #expect(rings.map(twiceArea).reduce(0, +) == parts.map(twiceArea).reduce(0, +))
        #expect(rings.joined().count < parts.joined().count)
        // Lesotho is a hole of South Africa.
        #expect(tree.shape(of: "ZA").polygons.joined().contains { twiceArea($0) < 0 })
    }

    private func twiceArea(_ ring: [MercatorPoint]) -> Int128 {
        zip(ring, ring.dropFirst() + ring.prefix(1)).map { Int128($0.x) * Int128($1.y) - Int128($1.x) * Int128($0.y) }
            .reduce(0, +)
    }
}
