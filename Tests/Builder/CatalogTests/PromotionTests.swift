import Errors
import Foundation
import Testing

@testable import Catalog
@testable import CatalogFormat

/// Packages of one catalog become the listed ones of another: all of them or none.
struct PromotionTests {
    private let scratch: Scratch
    private let key = CatalogSecretKey()
    private let staging: Catalog
    private let live: Catalog

    init() throws {
        scratch = try Scratch()
        staging = try Catalog(scratch.file("staging"), create: true, baseURL: "https://staging.example/")
        live = try Catalog(
            scratch.file("live"), create: true, baseURL: "https://maps.example/", signingKey: key, keepVersions: 3)
    }

    private func publish(_ id: String, _ text: String, _ edition: CatalogEdition = .main, to catalog: Catalog) throws {
        var request = try scratch.request(id, text)
        request.options.edition = edition
        request.options.allowsShrink = true
        request.files = [try scratch.other("pmtiles", "\(text)-pm")]
        request.attribution = "© \(text)"
        request.options.dataDate = "2026-10-01"
        request.tiles = 7
        _ = try catalog.publish(request)
    }

    private func text(_ path: String) throws -> String { try scratch.text("live/\(path)") }

    private func inode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: scratch.file(path).path)
        return try #require((attributes[.systemFileNumber] as? NSNumber)?.intValue)
    }

    private func provenIndex() throws -> CatalogIndex {
        let bytes = Array(try Data(contentsOf: scratch.file("live/catalog.json")))
        let signature = Array(try Data(contentsOf: scratch.file("live/catalog.json.sig")))
        try CatalogSignature(decoding: signature).check(bytes, by: try key.publicKey)
        return try CatalogIndex(decoding: bytes)
    }

    @Test func oneEditionComesAloneTheMainOneToo() throws {
        let german = try CatalogEdition(group: "terrain", language: "de")
        for edition in [.main, german] { try publish("EE", "new", edition, to: staging) }
        for edition in [.main, german] {
            let done = try live.apply(try live.planPromotion(of: CatalogSelection([], edition: edition), from: staging))
            #expect(done.packages.map(\.edition) == [edition.path])
        }
        #expect(try provenIndex().packages.count == 2)
    }

    @Test func allPackagesOfAllEditionsComeAtOnceAsLinks() throws {
        let german = try CatalogEdition(group: "terrain", language: "de")
        try publish("EE", "old", to: live)
        try publish("LV", "kept", to: live)
        let before = try #require(try provenIndex().sequence)
        // Versions of staging are not those of the live catalog.
        for text in ["aaa", "bbb", "ccc"] { try publish("EE", text, to: staging) }
        try publish("LT", "lt", to: staging)
        try publish("EE", "hills", german, to: staging)
        let plan = try live.planPromotion(of: CatalogSelection(), from: staging)
        #expect(try live.packages().map(\.version) == [1, 1], "a plan writes nothing")
        let done = try live.apply(plan)
        #expect(
            done.packages.map { "\($0.edition)\($0.id) \($0.published ?? 0)" }.sorted() == [
                "EE 2", "LT 1", "groups/terrain/de/EE 1",
            ])
        #expect(done.sequence == before + 3)
        let index = try provenIndex()
        #expect(index.sequence == before + 3)
        #expect(
            index.packages.map { "\($0.edition)\($0.id) \($0.versions.map(\.version))" } == [
                "EE [2, 1]", "LT [1]", "LV [1]", "groups/terrain/de/EE [1]",
            ])
        let promoted = try #require(try live.packages().first { $0.id == "EE" })
        let staged = try #require(try staging.packages().first { $0.id == "EE" })
        #expect(promoted.url == "https://maps.example/packages/2/EE.mbtiles")
        #expect(promoted == staged.placed(as: 2, like: nil, base: "https://maps.example/"), "every member is carried")
        for path in ["EE.mbtiles", "EE.pmtiles"] {
            #expect(try inode("live/packages/2/\(path)") == inode("staging/packages/3/\(path)"), "a link")
        }
        #expect(try live.verify().isVerified)
        // The same again changes nothing.
        let bytes = try text("catalog.json")
        let again = try live.planPromotion(of: CatalogSelection(), from: staging)
        #expect(again.isEmpty && again.difference.unchanged == 3)
        #expect(try live.apply(again).sequence == nil)
        #expect(try text("catalog.json") == bytes)
    }

    @Test func onlyTheNamedPackagesCome() throws {
        for id in ["EE", "LT", "LV"] { try publish(id, id, to: staging) }
        try live.apply(try live.planPromotion(of: CatalogSelection(["LT"]), from: staging))
        #expect(try live.packages().map(\.id) == ["LT"])
        let absent = #expect(throws: CatalogError.self) {
            try live.planPromotion(of: CatalogSelection(["LT", "XX"]), from: staging)
        }
        #expect(absent?.code == .missingPackage && absent?.message.contains("'XX'") == true)
        let same = #expect(throws: CatalogError.self) { try live.planPromotion(of: CatalogSelection(), from: live) }
        #expect(same?.code == .badRequest)
    }

    /// One refused package refuses all, and the error names each.
    @Test func oneRefusedPackageRefusesAll() throws {
        for (id, tileset) in [("AA", "streets"), ("BB", "streets"), ("CC", "")] {
            var request = try scratch.request(id, "\(id)-live")
            request.tileset = tileset
            _ = try live.publish(request)
            request = try scratch.request(id, "\(id)-next")
            request.tileset = tileset.isEmpty ? "" : "hills"
            _ = try staging.publish(request)
        }
        let before = try text("catalog.json")
        let error = #expect(throws: CatalogError.self) {
            try live.planPromotion(of: CatalogSelection(), from: staging)
        }
        #expect(
            error?.code == .otherTileset && error?.details.count == 2 && error?.message.hasPrefix("2 packages") == true)
        #expect(try text("catalog.json") == before)
        var options = PublishOptions()
        options.replacesTileset = true
        try live.apply(try live.planPromotion(of: CatalogSelection(), from: staging, options: options))
        #expect(try live.packages().map(\.version) == [2, 2, 2])
    }

    @Test func aPackageThatShrinksTooMuchRefusesAll() throws {
        try publish("EE", String(repeating: "x", count: 100), to: live)
        try publish("EE", String(repeating: "y", count: 80), to: staging)
        try publish("LV", "new", to: staging)
        let error = #expect(throws: CatalogError.self) {
            try live.planPromotion(of: CatalogSelection(), from: staging, maxShrink: 0.1)
        }
        #expect(error?.code == .packageShrunk && error?.message.contains("20 %") == true)
        #expect(error?.details == ["EE: 7 to 7 tiles, 100 to 80 bytes"])
        #expect(try live.packages().map(\.id) == ["EE"])
        try live.apply(try live.planPromotion(of: CatalogSelection(), from: staging, maxShrink: 0.2))
        #expect(try live.packages().map(\.id) == ["EE", "LV"])
    }

    /// A package of unknown tileset, as an import without --tileset, does not take the tileset away.
    @Test func theTilesetStays() throws {
        var request = try scratch.request("EE", "old")
        request.tileset = "streets"
        _ = try live.publish(request)
        _ = try staging.publish(try scratch.request("EE", "new"))
        try live.apply(try live.planPromotion(of: CatalogSelection(), from: staging))
        #expect(try live.packages().map(\.tileset) == ["streets"])
        #expect(try live.planPromotion(of: CatalogSelection(), from: staging).isEmpty)
    }

    @Test(arguments: [(0.1, "10 %"), (0.10001, "10.1 %"), (0.5, "50 %"), (1, "100 %"), (0, "0 %")])
    func aShareIsNeverShownAsLess(share: Double, text: String) {
        #expect(CatalogDifference.percent(share) == text)
    }

    /// A plan is for the catalog that it was made for.
    @Test func aPlanIsRefusedAfterAnotherChange() throws {
        try publish("EE", "one", to: live)
        try publish("EE", "two", to: staging)
        try publish("LV", "lv", to: staging)
        let plan = try live.planPromotion(of: CatalogSelection(), from: staging)
        try publish("EE", "three", to: live)
        let error = #expect(throws: CatalogError.self) { try live.apply(plan) }
        #expect(error?.code == .changed)
        #expect(try live.packages().map { "\($0.id) \($0.version)" } == ["EE 2"])
        // A package that is published again in staging meanwhile is the one of the plan, as long as its files are kept.
        let next = try live.planPromotion(of: CatalogSelection(["LV"]), from: staging)
        try publish("LV", "later", to: staging)
        try live.apply(next)
        #expect(try text("packages/1/LV.mbtiles") == "lv")
        // One whose file is gone is refused, and the others with it.
        try publish("AA", "aa", to: staging)
        let last = try live.planPromotion(of: CatalogSelection(["AA", "LV"]), from: staging)
        try FileManager.default.removeItem(at: scratch.file("staging/packages/2/LV.mbtiles"))
        #expect(throws: CatalogError.self) { try live.apply(last) }
        #expect(try live.packages().map { "\($0.id) \($0.version)" } == ["EE 2", "LV 1"])
    }

    @Test func aDamagedFileIsNotPromoted() throws {
        try publish("EE", "one", to: staging)
        let file = scratch.file("staging/packages/1/EE.mbtiles")
        try FileManager.default.removeItem(at: file)
        try Data("onf".utf8).write(to: file)
        let error = #expect(throws: CatalogError.self) {
            try live.apply(try live.planPromotion(of: CatalogSelection(), from: staging))
        }
        #expect(error?.code == .badFile)
        #expect(try live.packages().isEmpty)
    }

    /// A signed catalog is promoted to with its own key only.
    @Test func theKeyIsThatOfTheLiveCatalog() throws {
        try publish("EE", "one", to: staging)
        let keyless = try Catalog(live.folder, create: false)
        let order = CatalogOrder(.promotion(from: staging.folder, maxShrink: 1), of: CatalogSelection())
        let error = #expect(throws: CatalogError.self) { try keyless.carryOut(order) { _, _ in nil } }
        #expect(error?.code == .signingKey)
        var dry = order
        dry.isDry = true
        #expect(try keyless.carryOut(dry) { _, _ in nil }.difference.packages.map(\.id) == ["EE"])
    }
}
