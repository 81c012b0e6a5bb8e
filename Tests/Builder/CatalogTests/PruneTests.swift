import Digests
import Errors
import Files
import Foundation
import Testing

@testable import Catalog
@testable import CatalogFormat

struct PruneTests {
    let scratch: Scratch
    let catalog: Catalog

    init() throws {
        scratch = try Scratch()
        catalog = try Catalog(scratch.file("catalog"), create: true)
    }

    private func tree() throws -> [String] {
        let root = scratch.file("catalog")
        return try FileManager.default.subpathsOfDirectory(atPath: root.path).filter {
            $0.contains("packages/") || $0.contains("patches/")
        }.sorted()
    }

    private func patch(_ size: Int, _ wanted: WantedPatch) throws -> Bool {
        let bytes = [UInt8](repeating: UInt8(wanted.from), count: size)
        let file = scratch.file("patch-\(wanted.id)-\(wanted.from)-\(size)")
        try Data(bytes).write(to: file)
        return try catalog.add(wanted, file: file, digest: Digest(of: bytes), size: UInt64(size))
    }

    @Test func oldVersionsTheirPatchesAndForgottenFilesGo() throws {
        for text in ["first text", "second text", "third text"] {
            _ = try catalog.publish(try scratch.request("EE", text))
            for wanted in try catalog.wantedPatches() { #expect(try patch(4, wanted)) }
        }
        var other = try scratch.request("EE", "terrain")
        other.options.edition = try CatalogEdition(group: "terrain")
        _ = try catalog.publish(other)
        // Leftovers of ended processes: a file that no list names, and an unfinished copy.
        try FileManager.default.createDirectory(
            at: scratch.file("catalog/packages/9"), withIntermediateDirectories: true)
        try Data("x".utf8).write(to: scratch.file("catalog/packages/9/EE.mbtiles"))
        try Data("xy".utf8).write(to: scratch.file("catalog/packages/1/.EE.mbtiles.1a.tmp"))
        try Data("mine".utf8).write(to: scratch.file("catalog/README"))

        let before = try tree()
        let all = try catalog.prune(keep: 3, dryRun: true)
        #expect(all.versions.isEmpty)
        #expect(all.files == ["packages/1/.EE.mbtiles.1a.tmp", "packages/9/EE.mbtiles"] && all.bytes == 3)
        let told = try catalog.prune(keep: 2, dryRun: true)
        #expect(told.versions == ["EE 1"])
        #expect(
            told.files == ["packages/1/.EE.mbtiles.1a.tmp", "packages/1/EE.mbtiles", "packages/9/EE.mbtiles"])
        #expect(try tree() == before)

        let done = try catalog.prune(keep: 2, dryRun: false)
        #expect(done.files == told.files && done.bytes == told.bytes && done.versions == told.versions)
        let newest = try catalog.prune(keep: 1, dryRun: false)
        #expect(newest.versions == ["EE 2"] && newest.files == ["packages/2/EE.mbtiles", "patches/EE/1-2.mbtiles"])
        #expect(
            try tree().filter { $0.hasSuffix("s") && $0.contains(".") } == [
                "groups/terrain/packages/1/EE.mbtiles", "packages/3/EE.mbtiles", "patches/EE/1-3.mbtiles",
                "patches/EE/2-3.mbtiles",
            ])
        #expect(FileManager.default.fileExists(atPath: scratch.file("catalog/README").path))
        #expect(try catalog.prune(keep: 1, dryRun: false).files.isEmpty)
        #expect(throws: CatalogError.self) { try catalog.prune(keep: 0, dryRun: false) }
        let index = try catalog.index()
        #expect(index.package("EE", in: .main)?.versions.map(\.version) == [3])
        #expect(try catalog.verify().isVerified)
    }

    /// Its name is free again, its versions are not; clients do not mistake the catalog for an older one.
    @Test func aWithdrawnPackageGoesWithItsFilesAndItsVersionsStayTaken() throws {
        for text in ["first text", "second text"] {
            _ = try catalog.publish(try scratch.request("EE", text))
            for wanted in try catalog.wantedPatches() { #expect(try patch(4, wanted)) }
        }
        _ = try catalog.publish(try scratch.request("LV", "other"))
        var terrain = try scratch.request("EE", "terrain")
        terrain.options.edition = try CatalogEdition(group: "terrain")
        _ = try catalog.publish(terrain)
        let (before, sequence) = (try tree(), try #require(try catalog.index().sequence))

        #expect(throws: CatalogError.self) { try catalog.remove(["EE", "FI"], dryRun: false) }
        #expect(throws: CatalogError.self) { try catalog.remove(["LV"], group: "terrain", dryRun: false) }
        let told = try catalog.remove(["EE"], dryRun: true)
        #expect(told.versions == ["EE 1", "EE 2", "groups/terrain/EE 1"])
        #expect(try tree() == before)
        let one = try catalog.remove(["EE"], group: "terrain", dryRun: false)
        #expect(one.files == ["groups/terrain/packages/1/EE.mbtiles"])
        let done = try catalog.remove(["EE"], dryRun: false)
        #expect(done.files == ["packages/1/EE.mbtiles", "packages/2/EE.mbtiles", "patches/EE/1-2.mbtiles"])
        #expect(try tree().filter { $0.hasSuffix(".mbtiles") } == ["packages/1/LV.mbtiles"])
        let index = try catalog.index()
        #expect(index.packages.map(\.id) == ["LV"] && index.sequence ?? 0 > sequence)
        #expect(try catalog.verify().isVerified)
        #expect(try catalog.prune(keep: 1, dryRun: true).files.isEmpty)

        let again = try catalog.publish(try scratch.request("EE", "first text"))
        #expect(again.version > 2 && !again.unchanged)
        #expect(try catalog.index().sequence ?? 0 > index.sequence ?? 0)
        #expect(try catalog.verify().isVerified)
    }

    @Test func patchesAreOfTheTwoVersionsBefore() throws {
        for text in ["version one", "version two", "version three", "version four"] {
            _ = try catalog.publish(try scratch.request("EE", text))
        }
        let wanted = try catalog.wantedPatches("EE")
        #expect(wanted.map(\.from) == [3, 2] && wanted.map(\.to) == [4, 4])
        #expect(wanted[0].old.path.hasSuffix("packages/3/EE.mbtiles"))
        #expect(wanted[0].new.path.hasSuffix("packages/4/EE.mbtiles"))
        // "version four" has 12 bytes: 8 are less than seven tenths of them, 9 are not.
        #expect(try patch(8, wanted[0]))
        #expect(try !patch(9, wanted[1]))
        #expect(try catalog.packages().first?.patches.map(\.from) == [3])
        #expect(try catalog.wantedPatches("EE").isEmpty, "what does not pay is not made again")
        let listed = try #require(try catalog.index().package("EE", in: .main)?.versions.first?.patches.first)
        #expect(listed.url == "patches/EE/3-4.mbtiles" && listed.size == 8)
        #expect(try catalog.verify().isVerified)
        // A name change keeps the patch; a new version has none yet, and one for the version before comes too late.
        _ = try catalog.publish(try scratch.request("EE", "version four", names: ["en": "Eesti"]))
        #expect(try catalog.packages().first?.patches.count == 1)
        _ = try catalog.publish(try scratch.request("EE", "version five"))
        #expect(try catalog.packages().first?.patches.isEmpty == true)
        #expect(try !patch(3, wanted[1]))
        #expect(try catalog.index().package("EE", in: .main)?.versions[1].patches.count == 1)
        try Data("x".utf8).write(to: scratch.file("catalog/patches/EE/3-4.mbtiles"))
        #expect(try catalog.verify().isVerified, "only the newest version's patch is of the list")
    }

    @Test func aPatchThatIsDamagedInTheCatalogIsFound() throws {
        for text in ["version one", "version two"] { _ = try catalog.publish(try scratch.request("EE", text)) }
        for wanted in try catalog.wantedPatches() { #expect(try patch(5, wanted)) }
        #expect(try catalog.verify().bytes == 16)
        try FileManager.default.removeItem(at: scratch.file("catalog/patches/EE/1-2.mbtiles"))
        #expect(try catalog.verify().problems.map(\.code) == ["missing-file"])
        try Data("12345".utf8).write(to: scratch.file("catalog/patches/EE/1-2.mbtiles"))
        #expect(try catalog.verify().problems.map(\.code) == ["wrong-digest"])
    }

    @Test func theRuleForPatches() {
        #expect(PatchRule.pays(patch: 69, whole: 100) && !PatchRule.pays(patch: 70, whole: 100))
        #expect(PatchRule.pays(patch: 0, whole: 1) && !PatchRule.pays(patch: 0, whole: 0))
        #expect(!PatchRule.pays(patch: -1, whole: 100))
        #expect(!PatchRule.pays(patch: Int64.max, whole: Int64.max))
    }
}
