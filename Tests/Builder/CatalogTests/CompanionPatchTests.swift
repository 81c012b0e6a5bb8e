import CatalogFormat
import Digests
import Files
import Foundation
import Testing

@testable import Catalog

/// Patches of files that belong to packages, as a catalog lists them.
struct CompanionPatchTests {
    private let scratch: Scratch
    private let catalog: Catalog
    private let edition: CatalogEdition

    init() throws {
        scratch = try Scratch()
        catalog = try Catalog(scratch.file("catalog"), create: true, baseURL: "https://maps.example/")
        edition = try CatalogEdition(group: "routing-valhalla")
        _ = try catalog.publish(try scratch.request("EE", "map"))
    }

    private func attach(_ text: String, engine: String? = nil) throws {
        let file = scratch.file("EE.vtiles")
        try Data(text.utf8).write(to: file)
        _ = try catalog.attach(contentsOf: file, to: "EE", kind: "routing.valhalla", engine: engine)
    }

    /// Makes a patch of so many bytes.
    private func make(_ wanted: WantedPatch, bytes: Int) throws -> Bool {
        try catalog.make(wanted) { wanted, target in
            #expect(wanted.format == CatalogCompanion.format)
            #expect(wanted.old.lastPathComponent == "EE.vtiles" && wanted.new.lastPathComponent == "EE.vtiles")
            let patch = [UInt8](repeating: 7, count: bytes)
            try Data(patch).write(to: target)
            return (Digest(of: patch), UInt64(bytes))
        }
    }

    private func index() throws -> CatalogIndex {
        try CatalogIndex(decoding: Array(try Data(contentsOf: scratch.file("catalog/catalog.json"))))
    }

    @Test func theyAreListedBesideTheNewVersionByTheRuleOfMaps() throws {
        for text in ["a", "b", "c", "d"] { try attach(String(repeating: text, count: 100)) }
        let wanted = try catalog.wantedPatches("EE", in: edition)
        #expect(wanted.map(\.from) == [3, 2] && wanted.map(\.to) == [4, 4])
        #expect(try make(wanted[0], bytes: 69))
        #expect(try !make(wanted[1], bytes: 70), "seven tenths do not pay")
        #expect(try catalog.wantedPatches("EE", in: edition).isEmpty)
        let version = try #require(try index().package("EE", in: edition)?.versions.first)
        #expect(version.patches.map(\.from) == [3] && version.patches.map(\.format) == ["opaque"])
        #expect(version.patches.map(\.url) == ["groups/routing-valhalla/patches/EE/3-4.opaque.patch"])
        #expect(version.patches.map(\.size) == [69])
        let report = try catalog.verify()
        #expect(report.isVerified, "\(report.problems)")
        // The same bytes again keep version and patches.
        try attach(String(repeating: "d", count: 100))
        #expect(try index().package("EE", in: edition)?.versions.first?.patches.count == 1)
        // A patch that no list names any more goes with the others.
        try attach(String(repeating: "e", count: 100))
        let next = try catalog.wantedPatches("EE", in: edition)
        #expect(next.map(\.from) == [4, 3])
        for patch in next { #expect(try make(patch, bytes: 20)) }
        let gone = try catalog.prune(keep: 1, dryRun: false).files
        #expect(gone.contains("groups/routing-valhalla/patches/EE/3-4.opaque.patch"), "\(gone)")
        #expect(try catalog.verify().isVerified)
        // Withdrawn, patches too.
        _ = try catalog.detach(["EE"], kind: "routing.valhalla", isDry: false)
        #expect(
            !FileManager.default.fileExists(
                atPath: scratch.file("catalog/groups/routing-valhalla/patches/EE/4-5.opaque.patch").path))
        #expect(try catalog.verify().isVerified)
    }

    /// Equal bytes for another engine are another version, and its patch is a copy.
    @Test func anotherEngineGetsAPatchToo() throws {
        try attach(String(repeating: "a", count: 100), engine: "3.6")
        try attach(String(repeating: "a", count: 100), engine: "3.7")
        let wanted = try catalog.wantedPatches("EE", in: edition)
        #expect(wanted.map(\.from) == [1])
        #expect(try make(wanted[0], bytes: 10))
        #expect(try index().package("EE", in: edition)?.versions.first?.patches.count == 1)
    }

    @Test func aDifferenceNamesThem() throws {
        let live = try Catalog(scratch.file("live"), create: true)
        let selection = CatalogSelection([])
        try attach(String(repeating: "a", count: 100))
        try live.apply(try live.planPromotion(of: selection, from: catalog))
        try attach(String(repeating: "b", count: 100))
        #expect(try make(try catalog.wantedPatches("EE", in: edition)[0], bytes: 31))
        let difference = try CatalogDifference(new: catalog, old: live, of: selection)
        let patches = try #require(difference.packages.first?.new?.patches)
        #expect(patches.map(\.from) == [1] && patches.map(\.bytes) == [31] && patches.map(\.format) == ["opaque"])
        #expect(difference.packages.first?.old?.patches == nil)
        // A promoted package keeps none: those of its new catalog are made from its versions there.
        try live.apply(try live.planPromotion(of: selection, from: catalog))
        #expect(try live.wantedPatches("EE", in: edition).map(\.from) == [1])
    }
}
