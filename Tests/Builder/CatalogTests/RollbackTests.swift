import Errors
import Foundation
import Testing

@testable import Catalog
@testable import CatalogFormat

/// An earlier version becomes the listed one again, under a version number of its own.
struct RollbackTests {
    private let scratch: Scratch
    private let live: Catalog

    init() throws {
        scratch = try Scratch()
        live = try Catalog(scratch.file("live"), create: true, baseURL: "https://maps.example/", keepVersions: 4)
    }

    private func publish(_ id: String, _ text: String, to catalog: Catalog? = nil) throws {
        var request = try scratch.request(id, text)
        request.options.allowsShrink = true
        request.tileset = "streets"
        _ = try (catalog ?? live).publish(request)
    }

    private func roll(_ ids: [String] = [], to version: Int32? = nil) throws -> CatalogDifference {
        try live.apply(try live.planRollback(of: CatalogSelection(ids), to: version))
    }

    private func state() throws -> [String] {
        let index = try CatalogIndex(decoding: Array(try Data(contentsOf: scratch.file("live/catalog.json"))))
        return try index.packages.map { package in
            let file = try #require(package.versions.first?.files.first?.url)
            return "\(package.id) \(package.versions.map(\.version)) \(try scratch.text("live/\(file)"))"
        } + ["\(index.sequence ?? 0)"]
    }

    @Test func anEarlierVersionComesBackAsANewOne() throws {
        for text in ["one", "two", "three"] { try publish("EE", text) }
        try publish("LV", "other")
        #expect(try state() == ["EE [3, 2, 1] three", "LV [1] other", "4"])
        #expect(try roll(["EE"], to: 1).packages.map(\.published) == [4])
        #expect(try state() == ["EE [4, 3, 2, 1] one", "LV [1] other", "5"])
        #expect(try roll(["EE"], to: 1).packages.isEmpty, "the same again changes nothing")
        #expect(try state().last == "5")
        _ = try roll(["EE"], to: 3)
        #expect(try state() == ["EE [5, 4, 3, 2] three", "LV [1] other", "6"])
        _ = try roll(["EE"], to: 4)
        #expect(try state() == ["EE [6, 5, 4, 3] one", "LV [1] other", "7"])
        #expect(try live.verify().isVerified)
        // Its bytes exist once.
        let attributes = try FileManager.default.attributesOfItem(
            atPath: scratch.file("live/packages/6/EE.mbtiles").path)
        #expect((attributes[.referenceCount] as? NSNumber)?.intValue == 3, "versions 4 and 6, and what was published")
    }

    @Test func whatIsNotThereIsNamed() throws {
        for text in ["1", "2", "3", "4", "5"] { try publish("EE", text) }
        try publish("LV", "1")
        let gone = #expect(throws: CatalogError.self) { try roll(["EE"], to: 1) }
        #expect(gone?.code == .missingPackage && gone?.message.contains("5, 4, 3, 2") == true)
        let first = #expect(throws: CatalogError.self) { try roll(["EE", "LV"], to: 4) }
        #expect(first?.code == .missingPackage && first?.message.contains("'LV'") == true)
        #expect(try live.packages().map(\.version) == [5, 1], "none is rolled back")
        let never = #expect(throws: CatalogError.self) { try roll() }
        #expect(never?.code == .missingPackage && never?.message.contains("no promotion") == true)
        let whose = #expect(throws: CatalogError.self) { try roll(to: 2) }
        #expect(whose?.code == .badRequest)
    }

    @Test func thePromotionBeforeIsUndone() throws {
        let staging = try Catalog(scratch.file("staging"), create: true)
        for id in ["EE", "LT"] { try publish(id, "\(id)-1") }
        for id in ["EE", "LT", "LV"] { try publish(id, "\(id)-2", to: staging) }
        let before = try state()
        #expect(before == ["EE [1] EE-1", "LT [1] LT-1", "2"])
        try live.apply(try live.planPromotion(of: CatalogSelection(), from: staging))
        #expect(try state() == ["EE [2, 1] EE-2", "LT [2, 1] LT-2", "LV [1] LV-2", "5"])
        let done = try roll()
        #expect(done.packages.map { "\($0.id) \($0.change.rawValue)" } == ["LV removed", "EE changed", "LT changed"])
        #expect(try state() == ["EE [3, 2, 1] EE-1", "LT [3, 2, 1] LT-1", "8"], "the sequence rises")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("live/packages/1/LV.mbtiles").path))
        // The same again changes nothing.
        for ids in [[], ["EE", "LV"]] { #expect(try roll(ids).sequence == nil) }
        #expect(try state().last == "8")
        // Forward again: the withdrawn package gets a version above its last one.
        try live.apply(try live.planPromotion(of: CatalogSelection(), from: staging))
        #expect(try state() == ["EE [4, 3, 2, 1] EE-2", "LT [4, 3, 2, 1] LT-2", "LV [3] LV-2", "11"])
        #expect(try live.verify().isVerified)
    }

    /// What was published after the promotion is not taken away.
    @Test func aPromotionThatWasPublishedOverIsNotUndone() throws {
        let staging = try Catalog(scratch.file("staging"), create: true)
        for id in ["EE", "LV"] {
            try publish(id, "\(id)-1")
            try publish(id, "\(id)-2", to: staging)
        }
        try live.apply(try live.planPromotion(of: CatalogSelection(), from: staging))
        try publish("LV", "LV-3")
        let error = #expect(throws: CatalogError.self) { try roll() }
        #expect(
            error?.code == .publishedLater && error?.code.exitStatus == .badData
                && error?.message.contains("'LV'") == true)
        #expect(try state() == ["EE [2, 1] EE-2", "LV [3, 2, 1] LV-3", "5"])
        // One that was rolled back by its name is no part of it any more.
        _ = try roll(["LV"], to: 1)
        #expect(try roll().packages.map(\.id) == ["EE"])
        #expect(try state() == ["EE [3, 2, 1] EE-1", "LV [4, 3, 2, 1] LV-1", "7"])
    }

    /// Of some packages, and of one edition, alone.
    @Test func partsOfAPromotionAreUndone() throws {
        let german = try CatalogEdition(language: "de")
        let staging = try Catalog(scratch.file("staging"), create: true)
        for edition in [CatalogEdition.main, german] {
            for (catalog, number) in [(live, 1), (staging, 2)] {
                for id in ["EE", "LV"] {
                    var request = try scratch.request(id, "\(id)-\(number)-\(edition)")
                    request.options.edition = edition
                    _ = try catalog.publish(request)
                }
            }
        }
        try live.apply(try live.planPromotion(of: CatalogSelection(), from: staging))
        func undo(_ selection: CatalogSelection) throws -> [String] {
            try live.apply(try live.planRollback(of: selection)).packages.map { $0.edition + $0.id }
        }
        #expect(try undo(CatalogSelection(["EE"], edition: german)) == ["de/EE"])
        #expect(try undo(CatalogSelection([], edition: german)) == ["de/LV"])
        #expect(try undo(CatalogSelection(["LV"])) == ["LV"])
        #expect(try undo(CatalogSelection()) == ["EE"])
        #expect(try undo(CatalogSelection()).isEmpty)
        let never = #expect(throws: CatalogError.self) { try undo(CatalogSelection(["EE", "XX"])) }
        #expect(never?.code == .missingPackage && never?.message.contains("'XX'") == true)
        // A version is that of the editions that keep it.
        try publish("EE", "later")
        #expect(try live.packages().map(\.version) == [4, 3])
        let done = try roll(["EE"], to: 4)
        #expect(done.packages.isEmpty, "it is listed in one edition, and in no other")
        let other = CatalogSelection(["EE"], edition: german)
        #expect(throws: CatalogError.self) { try live.planRollback(of: other, to: 4) }
    }

    /// A patch leads back as it leads forward.
    @Test func patchesLeadBack() throws {
        for text in ["one", "two"] { try publish("EE", text) }
        _ = try roll(["EE"], to: 1)
        #expect(try live.wantedPatches().map { "\($0.from)-\($0.to)" } == ["2-3"], "version 1 has the bytes already")
    }
}
