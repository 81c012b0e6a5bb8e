import Digests
import Files
import Foundation
import PackageFiles
import TestSupport
import Testing
import Tiles

@testable import OfflineMaps

/// Plans of packages, and their files from the server to their place.
@Suite(.timeLimit(.minutes(15)))
struct PackagePlanTests {
    private let ee = Item.package("EE")

    @Test func aPackageIsInstalledAndRead() async throws {
        let scratch = try PlanScratch()
        try scratch.offer("EE")
        let outcome = try await scratch.run(await scratch.plan(ee))
        let row = try #require(outcome.units.first)
        #expect(row.item == ee && row.version == 1 && row.dataDate == "2026-11-01")
        let reader = TileReader(scratch.folder, [row])
        let tile = try #require(TileID(zoom: 7, x: 72, y: 37))
        guard case .found(let found) = try reader.tile(tile) else {
            Issue.record("The tile is not there.")
            return
        }
        #expect(found.body == Data(TestMap.body("EE 1", tile)))
        // Next to it lies what a repair needs, and nothing else is left.
        let file = try #require(scratch.folder.place(of: row))
        let home = file.deletingLastPathComponent()
        let document = try #require(InstalledFileDocument.read(home.appending(path: InstalledFileDocument.name)))
        #expect(document == InstalledFileDocument(row))
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.path).count == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder.parts.path).isEmpty)
    }

    @Test func anUpdateIsAPatchWhereItPays() async throws {
        let scratch = try PlanScratch()
        let old = try scratch.offer("EE", depth: 3, text: "same")
        try await scratch.run(await scratch.plan(ee))
        let gone = try #require(TileID("10/576/296"))
        try scratch.offer("EE", version: 2, depth: 3, text: "same", patchFrom: old, without: [gone])
        let plan = await scratch.plan(ee, kind: .update)
        #expect(plan.downloads.first?.patch != nil)
        let outcome = try await scratch.run(plan)
        #expect(outcome.verified == [true] && outcome.units.first?.version == 2)
        let requests = scratch.server.requests.map(\.path)
        #expect(requests == ["/packages/1/EE.mbtiles", "/patches/EE/2.mbtiles"])
    }

    @Test func aPatchThatDoesNotFitIsRefused() async throws {
        let scratch = try PlanScratch()
        let old = try scratch.offer("EE", depth: 3)
        try await scratch.run(await scratch.plan(ee))
        try scratch.offer("EE", version: 2, depth: 3, patchFrom: old)
        let plan = await scratch.plan(ee)
        let download = try #require(plan.downloads.first)
        let patch = try #require(download.patch)
        let part = try #require(scratch.folder.part(sha256: patch.digest))
        for bytes in [Data(), Data(repeating: 7, count: Int(patch.size))] {
            try bytes.write(to: part)
            #expect(try FileInstaller.patch(download, in: scratch.folder) == false)
        }
        // The right patch, and another file than the one that it is for.
        let content = try #require(scratch.body(at: "patches/EE/2.mbtiles"))
        try Data(content).write(to: part)
        var other = download
        other.details?.base = try scratch.offer("EE", version: 3, depth: 3)
        #expect(try FileInstaller.patch(other, in: scratch.folder) == false)
        #expect(try FileInstaller.patch(download, in: scratch.folder))
    }

    @Test func aPatchThatIsNotSmallerIsNotUsed() async throws {
        let scratch = try PlanScratch()
        let old = try scratch.offer("EE", depth: 3)
        try await scratch.run(await scratch.plan(ee))
        try scratch.offer("EE", version: 2, depth: 3, patchFrom: old)
        let whole = try #require(scratch.view.content?.offers.first?.files.first?.size)
        for (size, isUsed) in [(whole * 7 / 10 + 1, false), (whole * 7 / 10 - 1, true)] {
            scratch.view.content?.offers[0].patches[0].size = size
            #expect((await scratch.plan(ee).downloads.first?.patch != nil) == isUsed)
        }
        // Patches are from the version before, whatever its number.
        scratch.view.content?.offers[0].patches[0].from = 7
        #expect(await scratch.plan(ee).downloads.first?.patch == nil)
    }

    @Test func wrongBytesAreRefused() async throws {
        let scratch = try PlanScratch()
        let file = try scratch.offer("EE")
        let plan = await scratch.plan(ee)
        let download = try #require(plan.downloads.first)
        let part = try #require(scratch.folder.part(sha256: download.file.digest))
        let good = try Data(contentsOf: file)
        var flipped = good
        flipped[good.count / 2] ^= 1
        for bytes in [flipped, good.dropLast(), good + [0], Data()] {
            try bytes.write(to: part)
            #expect(try FileInstaller.verify(download, in: scratch.folder) == false)
        }
        try good.write(to: part)
        #expect(try FileInstaller.verify(download, in: scratch.folder))
        try FileManager.default.removeItem(at: part)
        #expect(throws: StoreError.self) { try FileInstaller.verify(download, in: scratch.folder) }
    }

    @Test func aFileThatIsNoPackageIsRefusedAlthoughItsDigestIsRight() async throws {
        let scratch = try PlanScratch()
        try scratch.offer("EE")
        let page = Array("<html>".utf8) + [UInt8](repeating: 32, count: 500)
        for format in ["mbtiles", "pmtiles", "maplibre"] {
            let path = "packages/1/EE.\(format)"
            scratch.serve(page, at: path)
            scratch.view.content?.offers[0].files = [
                CatalogContent.Download(
                    format: format, url: path, size: UInt64(page.count), sha256: Digest(of: page).hex)
            ]
            let outcome = try await scratch.run(await scratch.plan(.package("EE", Edition(), Format(format))))
            #expect(outcome.verified == [false])
        }
        // An opaque file is stored and not read.
        scratch.view.content?.offers[0].files[0].format = "opaque"
        let outcome = try await scratch.run(await scratch.plan(.package("EE", Edition(), .opaque)))
        #expect(outcome.verified == [true] && outcome.units.first?.format == .opaque)
    }

    @Test func aKillBetweenTheRenamesLosesNoByte() async throws {
        let scratch = try PlanScratch()
        try scratch.offer("EE")
        let plan = await scratch.plan(ee)
        let download = try #require(plan.downloads.first)
        let part = try #require(scratch.folder.part(sha256: download.file.digest))
        let good = try Data(contentsOf: scratch.store.url.appending(path: "EE-1.mbtiles"))
        try good.write(to: part)
        let installed = try FileInstaller.prepare(download, in: scratch.folder, source: nil)
        let file = try #require(scratch.folder.place(of: installed))
        let home = file.deletingLastPathComponent()
        // As a crash before the rename of the folder leaves it.
        try FileManager.default.moveItem(at: home, to: FileInstaller.newFolder(of: home))
        var cleaning = StoreCleaning(scratch.folder)
        cleaning.giveBackUnfinished()
        #expect(cleaning.left.isEmpty)
        #expect(try Data(contentsOf: part) == good)
        #expect(FileManager.default.fileExists(atPath: FileInstaller.newFolder(of: home).path) == false)
        _ = try FileInstaller.prepare(download, in: scratch.folder, source: nil)
        #expect(try Data(contentsOf: file) == good)
    }

    @Test func whatTheCatalogDoesNotHaveIsNamed() async throws {
        let scratch = try PlanScratch()
        try scratch.offer("EE")
        #expect(await scratch.plan(.package("LV")).answer == .failed(.notInCatalog))
        #expect(await scratch.plan(.package("EE", Edition(group: "terrain"))).answer == .failed(.notInCatalog))
        #expect(await scratch.plan(.style("streets")).answer == .failed(.notInCatalog))
        #expect(await scratch.plan(.packs("EE")).answer == .failed(.notInCatalog))
        try await scratch.run(await scratch.plan(ee))
        scratch.view.content?.offers = []
        #expect(await scratch.plan(ee, kind: .update).answer == .failed(.superseded))
        scratch.view.content = nil
        #expect(await scratch.plan(ee).answer == .failed(.notInCatalog))
    }

    @Test func selectedGroupsComeWithThePackage() async throws {
        let scratch = try PlanScratch()
        try scratch.offer("EE")
        try scratch.offer("EE", text: "terrain", group: "terrain")
        #expect(await scratch.plan(ee).downloads.count == 1)
        scratch.view.groups = ["terrain", "unknown"]
        let plan = await scratch.plan(ee, kind: .update)
        #expect(plan.downloads.map(\.holder) == [ee, ee])
        let outcome = try await scratch.run(plan)
        #expect(outcome.units.map(\.item) == [ee, .package("EE", Edition(group: "terrain"))])
    }

    @Test func aLanguageThatTheCatalogLacksFallsBack() async throws {
        let scratch = try PlanScratch()
        try scratch.offer("EE")
        let german = Item.package("EE", Edition(language: "de"))
        let outcome = try await scratch.run(await scratch.plan(german))
        #expect(outcome.units.map(\.item) == [german])
    }

    @Test func addressesStayInTheCatalog() throws {
        for (text, folder) in [
            ("https://a.example/maps/catalog.json", "https://a.example/maps/"),
            ("https://a.example/maps/", "https://a.example/maps/"),
            ("https://a.example/maps", "https://a.example/maps/"),
        ] {
            let address = CatalogAddress(try #require(URL(string: text)))
            #expect(address.url("a/b.json")?.absoluteString == folder + "a/b.json")
        }
        let address = CatalogAddress(try #require(URL(string: "https://a.example/")))
        for path in ["../a", "/a", "https://b.example/a", "a/../b", "", "a?b", "a%2e"] {
            #expect(address.url(path) == nil)
        }
    }
}
