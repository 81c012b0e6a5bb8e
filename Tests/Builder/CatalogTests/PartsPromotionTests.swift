import CatalogFormat
import Errors
import Foundation
import Testing

@testable import Catalog

/// Packages in parts are promoted and rolled back as one.
struct PartsPromotionTests {
    let scratch: Scratch
    let live: Catalog
    let staging: Catalog

    init() throws {
        scratch = try Scratch()
        live = try Catalog(scratch.file("live"), create: true, baseURL: "https://maps.example/")
        staging = try Catalog(scratch.file("staging"), create: true)
    }

    /// Publishes a package in parts that hold these texts, one file for a single text.
    private func publish(_ id: String, _ texts: [String], to catalog: Catalog) throws {
        var request = try scratch.request(id, texts[0], size: UInt64(texts.reduce(0) { $0 + $1.utf8.count }))
        request.options.allowsShrink = true
        if texts.count > 1 {
            request.parts = try texts.enumerated().map { index, text in
                var part = try scratch.request("\(id)-\(index + 1)", text)
                part.part = CatalogPart(of: id, number: index + 1, count: texts.count)
                part.tiles = 10
                part.files = [try scratch.other("pmtiles", "\(text) as PMTiles")]
                return part
            }
        } else {
            request = try scratch.request(id, texts[0])
            request.options.allowsShrink = true
        }
        _ = try catalog.publish(request)
    }

    private func listed(_ catalog: Catalog) throws -> [String] {
        try catalog.packages().map {
            let text = try scratch.text("\(catalog.folder.lastPathComponent)/\($0.path)")
            return "\($0.id) \($0.version) \($0.part.map { "\($0.number)/\($0.count)" } ?? "-") \(text)"
        }
    }

    @discardableResult
    private func promote(_ ids: [String] = []) throws -> CatalogDifference {
        try live.apply(try live.planPromotion(of: CatalogSelection(ids), from: staging, maxShrink: 1))
    }

    @discardableResult
    private func rollBack(_ ids: [String] = [], to version: Int32? = nil) throws -> CatalogDifference {
        try live.apply(try live.planRollback(of: CatalogSelection(ids), to: version))
    }

    @Test func allPartsAndFormatsMoveInOneChange() throws {
        try publish("CA", ["old"], to: live)
        try publish("CA", ["a", "b"], to: staging)
        try publish("EE", ["ee"], to: staging)
        let sequence = try #require(try live.index().sequence)
        let difference = try promote()
        #expect(
            difference.packages.map { "\($0.change) \($0.id) \($0.published ?? 0)" } == ["changed CA 2", "added EE 1"])
        #expect(difference.packages.first?.new?.parts == 2 && difference.packages.first?.old?.parts == nil)
        #expect(try listed(live) == ["CA-1 2 1/2 a", "CA-2 2 2/2 b", "EE 1 - ee"])
        #expect(try scratch.text("live/packages/2/CA-2.pmtiles") == "b as PMTiles")
        #expect(try #require(try live.index().sequence) > sequence)
        #expect(try promote().packages.isEmpty, "the repeated command finds it done")
        #expect(try live.verify().isVerified)
        // Back to one file, and forward again.
        try rollBack()
        #expect(try listed(live) == ["CA 3 - old"])
        #expect(try rollBack().packages.isEmpty)
        try rollBack(["CA"], to: 2)
        #expect(try listed(live) == ["CA-1 4 1/2 a", "CA-2 4 2/2 b"])
        #expect(try scratch.text("live/packages/4/CA-1.pmtiles") == "a as PMTiles")
        #expect(try live.verify().isVerified)
    }

    @Test func moreAndFewerPartsComeAndGo() throws {
        try publish("CA", ["a", "b"], to: live)
        try publish("CA", ["c", "d", "e"], to: staging)
        try promote()
        #expect(try listed(live) == ["CA-1 2 1/3 c", "CA-2 2 2/3 d", "CA-3 2 3/3 e"])
        try rollBack()
        #expect(try listed(live) == ["CA-1 3 1/2 a", "CA-2 3 2/2 b"])
        var last = try #require(try live.index().sequence)
        for (version, count) in [(2, 3), (1, 2), (4, 3)] as [(Int32, Int)] {
            try rollBack(["CA"], to: version)
            #expect(try live.packages().count == count)
            let sequence = try #require(try live.index().sequence)
            #expect(sequence > last)
            last = sequence
        }
        #expect(try live.verify().isVerified)
    }

    @Test func whatAPromotionAddedIsWithdrawnWithAllParts() throws {
        try publish("CA", ["a", "b"], to: staging)
        try promote()
        try rollBack()
        #expect(try listed(live).isEmpty)
        #expect(try rollBack().packages.isEmpty)
        let files = try FileManager.default.subpathsOfDirectory(atPath: scratch.file("live").path)
        #expect(files.filter { $0.hasSuffix(".mbtiles") || $0.hasSuffix(".pmtiles") } == [])
    }

    @Test func aPartIsNoPackage() throws {
        try publish("CA", ["a", "b"], to: staging)
        let error = #expect(throws: CatalogError.self) { try promote(["CA-1"]) }
        #expect(error?.code == .missingPackage && error?.hint?.contains("part 1 of 'CA'") == true)
        // A package of the live catalog that is named like a part.
        try publish("CA-2", ["other"], to: live)
        let taken = #expect(throws: CatalogError.self) {
            try live.planPromotion(of: CatalogSelection(), from: staging)
        }
        #expect(taken?.code == .badRequest && taken?.message.contains("Nothing was changed") == true)
        #expect(try listed(live) == ["CA-2 1 - other"])
    }

    /// Versions count as a whole: one that is no longer kept is gone with each of its parts.
    @Test func aVersionIsKeptOrGoneAsAWhole() throws {
        let folder = live.folder
        try publish("CA", ["a", "b", "c"], to: live)
        for texts in [["d", "e"], ["f", "g"]] {
            try publish("CA", texts, to: try Catalog(folder, create: false, keepVersions: 2))
        }
        let gone = #expect(throws: CatalogError.self) { try rollBack(["CA"], to: 1) }
        #expect(gone?.message.contains("kept versions are 3, 2") == true)
        // The order may be repeated although the version that it names is gone meanwhile.
        let keeping = try Catalog(folder, create: false, keepVersions: 2)
        for _ in 0..<2 {
            try keeping.apply(try keeping.planRollback(of: CatalogSelection(["CA"]), to: 2))
            #expect(try listed(keeping) == ["CA-1 4 1/2 d", "CA-2 4 2/2 e"])
        }
        let other = #expect(throws: CatalogError.self) {
            try keeping.planRollback(of: CatalogSelection(["CA"]), to: 1)
        }
        #expect(other?.message.contains("kept versions are 4, 3") == true)
    }

    /// A package whose parts are not all there is refused, and nothing is changed.
    @Test func aMissingPartIsRefused() throws {
        try publish("CA", ["a", "b"], to: staging)
        let list = scratch.file("staging/packages.json")
        var text = String(decoding: try Data(contentsOf: list), as: UTF8.self)
        text = text.replacing("\"count\" : 2", with: "\"count\" : 3")
        try Data(text.utf8).write(to: list)
        let broken = try Catalog(scratch.file("staging"), create: false)
        let error = #expect(throws: CatalogError.self) {
            try live.planPromotion(of: CatalogSelection(), from: broken)
        }
        #expect(error?.code == .corrupt && error?.message.contains("all of its parts") == true)
    }

    @Test func aCutIsNoLossByItself() throws {
        try publish("CA", [String(repeating: "a", count: 90)], to: staging)
        try publish("CA", [String(repeating: "b", count: 90), String(repeating: "c", count: 90)], to: live)
        let plan = try live.planPromotion(of: CatalogSelection(), from: staging, maxShrink: 0.1)
        #expect(plan.difference.packages.map(\.shrinkage) == [0])
        try publish("EE", [String(repeating: "d", count: 90), String(repeating: "e", count: 90)], to: live)
        try publish("EE", [String(repeating: "f", count: 9), String(repeating: "g", count: 9)], to: staging)
        let error = #expect(throws: CatalogError.self) {
            try live.planPromotion(of: CatalogSelection(["EE"]), from: staging)
        }
        #expect(error?.code == .packageShrunk)
        // Parts are never smaller than the file that they take the place of.
        try publish("LV", [String(repeating: "h", count: 90)], to: live)
        try publish("LV", ["i", "j"], to: staging)
        let lost = #expect(throws: CatalogError.self) {
            try live.planPromotion(of: CatalogSelection(["LV"]), from: staging)
        }
        #expect(lost?.code == .packageShrunk)
    }
}
