import Digests
import Errors
import Files
import Foundation
import Testing
import Tiles

@testable import Catalog
@testable import CatalogFormat

/// A package replaces another one with its id only if that is plausible: not another area, not less than half of it.
struct GuardTests {
    private let scratch: Scratch
    private let catalog: Catalog

    init() throws {
        scratch = try Scratch()
        catalog = try Catalog(scratch.file("catalog"), create: true, baseURL: "https://maps.example/")
    }

    /// The tiles of zoom 10 in columns `columns` of ten rows, with all below them down to `zoom`.
    private func mask(_ columns: Range<Int>, zoom: Int = 12) throws -> TileMask {
        let tiles = try columns.flatMap { x in
            try (300..<310).map { y in try #require(TileID(zoom: 10, x: x, y: y)) }
        }
        return TileMask(tiles: tiles, maxZoom: 10).expanded(toZoom: zoom)
    }

    private func request(
        _ text: String, _ mask: TileMask, zooms: ClosedRange<Int> = 0...12, tiles: UInt64? = nil
    ) throws -> PublishRequest {
        let file = scratch.file("blob-\(UUID().uuidString)")
        try Data(text.utf8).write(to: file)
        var request = PublishRequest(
            id: "EE", file: file, digest: Digest(of: Array(text.utf8)), size: UInt64(text.utf8.count),
            maskWire: mask.cartoWire, names: ["en": "Europe/Estonia"], tilesHash: "D41D8CD98F00B204E9800998ECF8427E")
        request.zooms = ZoomRange(min: zooms.lowerBound, max: zooms.upperBound)
        request.tiles = tiles
        return request
    }

    private func refusal(_ request: PublishRequest) -> CatalogError? {
        do {
            _ = try catalog.publish(request)
            return nil
        } catch {
            return error
        }
    }

    @Test func anotherAreaTakesNoPlaceUnlessAllowed() throws {
        _ = try catalog.publish(try request("one", mask(500..<510)))
        for columns in [700..<710, 506..<516, 500..<504] {
            let other = try mask(columns)
            var slip = try request("two", other)
            let late = try #require(refusal(slip))
            #expect(late.code == .otherArea, "\(columns): \(late)")
            let early = #expect(throws: CatalogError.self) { try catalog.check(areas: ["EE": other, "LV": other]) }
            #expect(early?.code == .otherArea && early?.message == late.message)
            try catalog.check(areas: ["EE": other], in: CatalogEdition(group: "terrain"))
            slip.options.allowsShrink = true
            #expect(refusal(slip)?.code == .otherArea, "that it may shrink says nothing of its area")
        }
        let slip = try #require(refusal(try request("two", mask(506..<516))))
        #expect(slip.message.contains("640 of its 1600 tiles of zoom 12"), "\(slip)")
        #expect(slip.message.contains("--replace-area"))
        #expect(try catalog.packages().map(\.version) == [1])
        var meant = try request("two", mask(700..<710))
        meant.options.replacesArea = true
        #expect(refusal(meant) == nil)
        #expect(try catalog.packages().map(\.version) == [2])
    }

    /// What grows, is refined, is made coarser or changes moderately is the same area.
    @Test func theSameAreaPasses() throws {
        _ = try catalog.publish(try request("one", mask(500..<510)))
        let same = [
            try mask(500..<510), try mask(490..<520), try mask(505..<515), try mask(500..<505),
            try mask(500..<510, zoom: 14), try mask(500..<510, zoom: 10), try mask(500..<520, zoom: 11),
            TileMask(full: 5), TileMask(full: 12),
        ]
        for (index, area) in same.enumerated() {
            try catalog.check(areas: ["EE": area])
            #expect(refusal(try request("same \(index)", area)) == nil, "\(index)")
            // The next one is compared with the first again.
            var back = try request("back \(index)", mask(500..<510))
            back.options.replacesArea = true
            #expect(refusal(back) == nil)
        }
    }

    @Test func aListedMaskThatCannotBeReadIsNotCompared() throws {
        _ = try catalog.publish(try request("one", mask(500..<510)))
        let list = scratch.file("catalog/packages.json")
        let mask = try mask(500..<510).cartoWire
        let text = try scratch.text("catalog/packages.json").replacingOccurrences(of: mask, with: "!!:12")
        try Data(text.utf8).write(to: list)
        try catalog.check(areas: ["EE": try self.mask(700..<710)])
        #expect(refusal(try request("two", self.mask(700..<710))) == nil)
    }

    @Test func aPackageThatShrinksByMoreThanHalfTakesNoPlaceUnlessAllowed() throws {
        let area = try mask(500..<510)
        let text = String(repeating: "x", count: 1_000)
        _ = try catalog.publish(try request(text, area, tiles: 1_000))
        #expect(try catalog.packages().map(\.tiles) == [1_000])
        let fewerTiles = try request(text + "a", area, tiles: 499)
        let fewerBytes = try request(String(text.dropLast(501)), area, tiles: 1_000)
        for (slip, numbers) in [(fewerTiles, "1000 tiles"), (fewerBytes, "1000 bytes")] {
            var slip = slip
            let error = try #require(refusal(slip))
            #expect(error.code == .packageShrunk)
            #expect(error.message.contains("\(numbers) in version 1 to 499"), "\(error)")
            #expect(error.message.contains("--allow-shrink"))
            #expect(error.message.utf8.count < 200, "a job's reason holds no more")
            slip.options.replacesArea = true
            #expect(refusal(slip)?.code == .packageShrunk, "the area and the zooms are the same")
            slip.options.replacesTileset = true
            #expect(refusal(slip)?.code == .packageShrunk, "the tileset is the same")
        }
        // Half is enough; what is not known is not compared.
        let half = try request(String(text.dropLast(500)), area, tiles: 500)
        #expect(refusal(half) == nil)
        var allowed = try request("tiny", area, tiles: 1)
        allowed.options.allowsShrink = true
        #expect(refusal(allowed) == nil)
        #expect(refusal(try request("even", area)) == nil)
        #expect(try catalog.packages().map(\.version) == [4])
        // The very same bytes are never refused.
        #expect(refusal(try request("even", area)) == nil)
    }

    /// Who replaced area, zooms or tileset knowingly has nothing to compare sizes with.
    @Test(arguments: ["area", "zooms", "tileset"]) func aKnownReplacementMayBeSmaller(_ what: String) throws {
        let text = String(repeating: "x", count: 1_000)
        var first = try request(text, mask(500..<510), tiles: 1_000)
        first.tileset = "streets"
        _ = try catalog.publish(first)
        var smaller = try request("less", mask(what == "area" ? 500..<506 : 500..<510), tiles: 1)
        if what == "zooms" { smaller.zooms = ZoomRange(min: 0, max: 10) }
        smaller.tileset = what == "tileset" ? "satellite" : "streets"
        smaller.options.replacesTileset = what == "tileset"
        if what != "tileset" {
            #expect(refusal(smaller)?.code == .packageShrunk)
            smaller.options.replacesArea = true
        }
        #expect(refusal(smaller) == nil)
    }

    /// A new version has the attribution and the vector layers of the listed one.
    @Test func aLostAttributionOrLayerIsRefused() throws {
        let area = try mask(500..<510)
        var first = try request("one", area)
        first.attribution = "© A"
        first.layers = ["land", "water"]
        _ = try catalog.publish(first)
        #expect(try catalog.packages().first?.layers == ["land", "water"])
        var next = try request("two", area)
        next.layers = ["land", "roads", "water"]
        #expect(try #require(refusal(next)).message.contains("attribution '© A'"))
        next.attribution = "© B"
        #expect(refusal(next) == nil)
        var less = try request("three", area)
        (less.attribution, less.layers) = ("© B", ["land"])
        let error = try #require(refusal(less))
        #expect(error.code == .packageShrunk && error.message.contains("roads, water"))
        // Layers that are not known are not compared.
        less.layers = nil
        #expect(refusal(less) == nil)
        #expect(try catalog.packages().first?.layers == nil)
        var bare = try request("four", area)
        bare.options.allowsShrink = true
        #expect(refusal(bare) == nil)
    }
}
