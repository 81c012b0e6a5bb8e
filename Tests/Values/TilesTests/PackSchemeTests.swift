import Errors
import Testing

@testable import Tiles

struct PackSchemeTests {
    private func tile(_ text: String) throws -> TileID { try #require(TileID(text)) }
    private func zooms(_ text: String) throws -> ZoomRange { try ZoomRange(parsing: text) }

    @Test func mapboxsPacksHaveTheSizesItsGuideTells() {
        let packs = PackScheme.mapbox.bands.compactMap { band in
            TileID(zoom: band.indexZoom, x: 0, y: 0).map { PackScheme.Pack(index: $0, zooms: band.zooms).size }
        }
        #expect(packs == [1_365, 341, 85, 320, 5_460])
    }

    /// No larger than Mapbox's largest, and one band for every zoom.
    @Test func standardPacksHaveAtMost1365Tiles() throws {
        let sizes = PackScheme.standard.bands.compactMap { band in
            TileID(zoom: band.indexZoom, x: 0, y: 0).map { PackScheme.Pack(index: $0, zooms: band.zooms).size }
        }
        #expect(sizes == [1_365, 341, 1_360, 1_280, 1_280, 1_280, 1_280])
        #expect(PackScheme.standard.uncovered(.all).isEmpty)
        #expect(try PackScheme(parsing: PackScheme.standard.description) == .standard)
        #expect(try PackScheme(parsing: "standard") == .standard)
        #expect(try PackScheme(parsing: "mapbox") == .mapbox)
    }

    @Test func aSchemeReadsBackAsWritten() throws {
        let text = "0-5@0,6-10@6,11-14@11,15-16@12,17-22@16"
        #expect(try PackScheme(parsing: text) == .mapbox)
        #expect(PackScheme.mapbox.description == text)
        #expect(try PackScheme(parsing: "3@0").bands.first?.zooms == zooms("3"))
    }

    @Test(arguments: [
        "", "0-5", "0-5@", "0-5@x", "0-5@-1", "0-5@1", "6-10@7", "0-5@0,5-9@5", "6-9@6,0-5@0", "0-23@0", "0-5@0,",
        "1@0@0",
    ])
    func whatIsNoSchemeIsRefused(text: String) {
        let error = #expect(throws: TilesError.self) { try PackScheme(parsing: text) }
        #expect(error?.code == .badZoom)
    }

    /// Every tile of the mask, one by one, and all tiles of the packs they are in.
    private func widenedByHand(_ mask: TileMask, _ scheme: PackScheme, _ span: ZoomRange) throws -> Set<TileID> {
        var wanted = Set(mask.tiles(in: try zooms("0-\(mask.maxZoom)")))
        var done: Set<String> = []
        for tile in mask.tiles(in: span) {
            guard let band = scheme.bands.first(where: { $0.zooms.contains(tile.zoom) }),
                let index = tile.ancestor(atZoom: band.indexZoom),
                done.insert("\(band.zooms) \(index)").inserted
            else { continue }
            var level = [index]
            for zoom in band.indexZoom...min(band.zooms.max, min(span.max, mask.maxZoom)) {
                wanted.formUnion(level)
                if zoom < mask.maxZoom { level = level.flatMap(\.children) }
            }
        }
        return wanted
    }

    @Test(
        arguments: ["0-2@0,3-4@3,5-7@5", "0-1@0,4-6@2,7@6", "2@0", "0-3@0,6-7@5", "0-22@0"], ["0-7", "2-5", "6", "0-4"])
    func aWidenedMaskHoldsWholePacksAndNoMore(text: String, span: String) throws {
        let scheme = try PackScheme(parsing: text)
        let masks = try [
            TileMask(tiles: [tile("7/60/40"), tile("7/61/43"), tile("6/3/3")], maxZoom: 7),
            TileMask(tiles: [tile("2/1/1"), tile("5/9/9")], maxZoom: 7), TileMask(full: 7), TileMask(empty: 7),
            TileMask(tiles: [tile("4/1/1")], maxZoom: 4).expanded(toZoom: 7),
            TileMask(full: 3).union(TileMask(tiles: [tile("7/0/127")], maxZoom: 7)),
        ]
        for mask in masks {
            let wide = scheme.widened(mask, zooms: try zooms(span))
            #expect(wide.maxZoom == mask.maxZoom)
            #expect(try Set(wide.tiles(in: zooms("0-7"))) == widenedByHand(mask, scheme, zooms(span)))
            #expect(scheme.widened(wide, zooms: try zooms(span)) == wide)
            for pack in scheme.packs(of: wide, zooms: try zooms(span)) { #expect(pack.isComplete(in: wide), "\(pack)") }
            #expect(try scheme.packs(of: wide, zooms: zooms(span)) == scheme.packs(of: mask, zooms: zooms(span)))
        }
    }

    @Test func packsOfAMaskAreThoseItHasTilesOf() throws {
        let mask = TileMask(tiles: [try tile("13/4264/2987")], maxZoom: 16)
        let packs = PackScheme.mapbox.packs(of: mask, zooms: try zooms("0-16"))
        #expect(packs.map(\.index) == [.root, try tile("6/33/23"), try tile("11/1066/746")])
        #expect(packs.map(\.zooms.description) == ["0-5", "6-10", "11-14"])
        #expect(packs.allSatisfy { !$0.isComplete(in: mask) })
        #expect(PackScheme.mapbox.packs(of: mask, zooms: try zooms("12-13")).map(\.zooms.description) == ["12-13"])
    }

    /// A country at zoom 14 costs a walk over its border, not over its tiles.
    @Test func aLargeMaskIsWidenedWithoutWalkingItsTiles() throws {
        let mask = TileMask(full: 22).subtracting(TileMask(tiles: [try tile("22/5/5")], maxZoom: 22))
        #expect(PackScheme.mapbox.widened(mask, zooms: .all) == TileMask(full: 22))
    }
}
