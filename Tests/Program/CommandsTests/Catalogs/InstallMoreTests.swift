import Catalog
import CatalogFormat
import CatalogTransfer
import CommandSupport
import Errors
import Files
import Foundation
import Packages
import TestSupport
import Testing

@testable import Commands

/// A device's side beyond whole packages: tile packs, styles, redirects, and catalogs that are older than they were.
struct InstallMoreTests {
    private func installer(
        _ shop: Shop, from place: String? = nil, after other: Installer? = nil
    ) async throws -> Installer {
        let source = try CatalogSource(try place ?? shop.address())
        let document = try #require(try await CatalogDocument.read(source, key: try shop.key.publicKey))
        return Installer(
            source: source, document: document,
            folder: try other?.folder ?? InstallFolder(shop.file("device")))
    }

    private func packs(_ shop: Shop) throws -> [String] {
        let folder = shop.file("device/packs")
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".mbtiles") }
            .sorted()
    }

    @Test func regionsShareTheirPacksAndAnUpdateTakesOldOnesAway() async throws {
        let shop = try Shop()
        let first = try shop.publishCut("EE", 1)
        let second = try shop.publishCut("LV", 1)
        #expect(first.packs == second.packs && first.packs.count > 3)
        let one = try await installer(shop)
        let step = try await one.packStep("EE", group: nil, language: nil)
        #expect(step.missing.count == first.packs.count && step.bytes == Int64(first.size))
        try await one.run(step)
        #expect(try packs(shop).count == first.packs.count)
        for pack in first.packs {
            #expect(try Digest.ofFile(shop.file("device/\(pack.path)")).digest.hex == pack.sha256)
        }
        let before = shop.asked().count
        let shared = try await one.packStep("LV", group: nil, language: nil)
        #expect(shared.missing.isEmpty)
        try await one.run(shared)
        #expect(shop.asked().dropFirst(before).map(\.path) == ["regions/LV.json"])

        // The next version of one region: what the other still has stays.
        let next = try shop.publishCut("EE", 2)
        let update = try await installer(shop, from: shop.file("catalog").path, after: one)
        let newer = try await update.packStep("EE", group: nil, language: nil)
        #expect(!newer.missing.isEmpty && newer.missing.count < next.packs.count, "packs without changes are there")
        try await update.run(newer)
        #expect(try packs(shop).count == Set(next.packs.map(\.path) + second.packs.map(\.path)).count)
        _ = try shop.publishCut("LV", 2)
        let last = try await installer(shop, from: shop.file("catalog").path, after: one)
        try await last.run(try await last.packStep("LV", group: nil, language: nil))
        #expect(try packs(shop).count == next.packs.count)
        // A damaged pack is fetched again.
        let pack = shop.file("device/\(next.packs[0].path)")
        try Data("x".utf8).write(to: pack)
        let mend = try await last.packStep("EE", group: nil, language: nil)
        #expect(mend.missing.map(\.sha256) == [next.packs[0].sha256])
        try await last.run(mend)
        #expect(try Digest.ofFile(pack).digest.hex == next.packs[0].sha256)
    }

    @Test func packsThatAreWrongOrTooManyAreRefused() async throws {
        let shop = try Shop()
        let list = try shop.publishCut("EE", 1)
        try shop.publish("LV", 1)
        let one = try await installer(shop)
        let none = await #expect(throws: CLIError.self) { try await one.packStep("LV", group: nil, language: nil) }
        #expect(none?.status == .noInput && none?.message.contains("tile packs") == true)
        let many = InstallFolder.Packs(
            id: "XX", group: nil, language: nil, version: 1, list: "regions/XX.json",
            packs: (0..<740).map { "packs/x/\($0)" })
        let limit = await #expect(throws: CLIError.self) {
            try await one.packStep("EE", group: nil, language: nil, planned: [many])
        }
        let total = list.packs.count + 740
        #expect(total > 750 && limit?.status == .badData && limit?.message.contains("\(total) tile packs") == true)
        #expect(limit?.hint?.contains("packhorse uninstall") == true)

        try shop.flip(list.packs[1].path)
        let step = try await one.packStep("EE", group: nil, language: nil)
        let wrong = await #expect(throws: CatalogTransferError.self) { try await one.run(step) }
        #expect(wrong?.exitStatus == .badData && wrong?.message.contains(list.packs[1].path) == true)
        #expect(
            !FileManager.default.fileExists(atPath: shop.file("device/regions/EE.json").path), "the list comes last")
        try shop.flip("regions/EE.json", at: 5)
        let changed = await #expect(throws: CLIError.self) { try await one.packStep("EE", group: nil, language: nil) }
        #expect(changed?.status == .badData)
    }

    @Test func aStyleIsInstalledByItsHash() async throws {
        let shop = try Shop()
        let archive = try shop.other("zip", Array("a style".utf8))
        try shop.catalog.publish(
            style: "streets", name: "Streets", file: archive.url, digest: archive.digest, size: archive.size)
        let one = try await installer(shop)
        let step = try await one.styleStep("streets")
        #expect(!step.isThere)
        try await one.run(step)
        #expect(try Data(contentsOf: shop.file("device/styles/streets.zip")) == Data("a style".utf8))
        #expect(try await one.styleStep("streets").isThere)
        let none = await #expect(throws: CLIError.self) { try await one.styleStep("night") }
        #expect(none?.status == .noInput && none?.hint == "it has streets")
        try shop.flip("styles/1/streets.zip")
        try FileManager.default.removeItem(at: shop.file("device/styles/streets.zip"))
        let wrong = await #expect(throws: CatalogTransferError.self) {
            try await one.run(try await one.styleStep("streets"))
        }
        #expect(wrong?.exitStatus == .badData)
    }

    @Test func anOlderCatalogIsRefusedWhereverItLies() throws {
        let shop = try Shop()
        let folder = try InstallFolder(shop.file("device"))
        let names = ["https://one/", "key:abc"]
        try folder.checkAge(nil, of: names)
        try folder.noteAge(7, of: names)
        try folder.checkAge(7, of: names)
        try folder.checkAge(8, of: names)
        // The same key at another address, the same address without a key.
        for known in [names, ["https://mirror/", "key:abc"], ["https://one/"]] {
            for sequence in [6, nil] as [Int64?] {
                let error = #expect(throws: CLIError.self) { try folder.checkAge(sequence, of: known) }
                #expect(error?.status == .badData && error?.message.contains("the last one was 7") == true)
                #expect(error?.hint?.contains("--allow-older") == true)
            }
        }
        try folder.checkAge(1, of: ["https://other/", "key:def"])
        try folder.noteAge(3, of: names)
        try folder.checkAge(3, of: names)
    }

    @Test func redirectsAreFollowedAndDownloadsStillGoOn() async throws {
        let shop = try Shop()
        try shop.publish("EE", 1)
        let target = try shop.address()
        let front = try ScriptedServer { request in
            .reply(302, headers: [("Location", target + request.path.drop { $0 == "/" })])
        }
        defer { front.stop() }
        let one = try await installer(shop, from: front.url + "/")
        let whole = try Data(contentsOf: shop.file("catalog/packages/1/EE.mbtiles"))
        let part = try one.folder.download(Digest(of: whole).hex)
        try whole.prefix(1_000).write(to: part)
        try await one.run(try await one.step("EE", group: nil, language: nil, format: "mbtiles")) { _ in }
        #expect(try Data(contentsOf: shop.file("device/EE.mbtiles")) == whole)
        #expect(shop.asked().last?.range == "bytes=1000-")
    }

    @Test func redirectsHaveAnEnd() async throws {
        let loop = try ScriptedServer { request in .reply(302, headers: [("Location", request.path)]) }
        defer { loop.stop() }
        let source = try CatalogSource(loop.url + "/")
        await #expect(throws: (any Error).self) { try await source.read("catalog.json") }
        #expect(loop.requests.count == 6, "five are followed")
        let file = FileManager.default.temporaryDirectory.appending(path: "loop-\(UUID().uuidString)")
        defer { unlink(file.path) }
        await #expect(throws: (any Error).self) {
            try await source.file("x", size: 10, sha256: Digest(of: [1]), to: file)
        }
        #expect(loop.requests.count == 12)
    }

    @Test func aCatalogIsPushedToAFolder() async throws {
        let shop = try Shop()
        let list = try shop.publishCut("EE", 1)
        let web = shop.file("web")
        func push(prune: Bool = false) async throws -> CatalogPush.Report {
            let folder = shop.file("catalog")
            return try await CatalogPush(
                source: try CatalogSource(folder.path), folder: folder, target: FolderTarget(folder: web)
            ).run(dryRun: false, prune: prune) { _ in }
        }
        let done = try await push()
        #expect(done.sent.filter { $0.hasPrefix("packs/") }.count == list.packs.count)
        #expect(done.sent.suffix(4) == ["regions/EE.json", "packages.json", "catalog.json.sig", "catalog.json"])
        let check = try await CatalogCheck.run(try CatalogSource(web.path), key: try shop.key.publicKey)
        #expect(check.paths.count == 1 + list.packs.count)
        let again = try await push()
        #expect(again.skipped == 1 + list.packs.count && again.sent.count == 4)
        try Data("mine".utf8).write(to: web.appending(path: "README"))
        let next = try shop.publishCut("EE", 2)
        _ = try shop.catalog.prune(keep: 1, dryRun: false)
        let pruned = try await push(prune: true)
        let gone = Set(list.packs.map(\.path)).subtracting(next.packs.map(\.path))
        #expect(!gone.isEmpty && gone.isSubset(of: pruned.removed) && pruned.removed.contains("packages/1/EE.mbtiles"))
        #expect(pruned.removed.allSatisfy { $0 != "README" })
        #expect(
            try await CatalogCheck.run(try CatalogSource(web.path), key: try shop.key.publicKey).paths.count == 1
                + next.packs.count)
        #expect(!FileManager.default.fileExists(atPath: web.appending(path: "push.json").path))
    }

    @Test(arguments: [
        ("packages/1/EE.mbtiles", true), ("de/patches/EE/1-2.mbtiles", true),
        ("groups/terrain/packs/demo/6/33/20/abc.mbtiles", true), ("packs/demo/0/0/0/abc.pmtiles", true),
        ("regions/EE.json", true), ("styles/1/streets.zip", true), ("README", false), ("packages.json", false),
        ("regions/EE.txt", false), ("mine/styles/1/streets.zip", false), ("packs/demo/notes.txt", false),
    ])
    func pruningKnowsWhatIsACatalogs(_ path: String, _ isFile: Bool) {
        #expect(CatalogPush.isFile(path) == isFile)
    }

    /// What no other region has goes; what is not named stays, and so does the record of it.
    @Test func whatIsUninstalledGoesWithItsPacksAlone() async throws {
        let shop = try Shop()
        let first = try shop.publishCut("EE", 1)
        let second = try shop.publishCut("LV", 2)
        try shop.publish("FI", 3)
        try shop.publish("FI", 4, edition: try CatalogEdition(group: "terrain"))
        let one = try await installer(shop)
        for id in ["EE", "LV"] { try await one.run(try await one.packStep(id, group: nil, language: nil)) }
        for group in [nil, "terrain"] {
            try await one.run(try await one.step("FI", group: group, language: nil, format: "mbtiles")) { _ in }
        }
        let wishes = try InstallWish.installed(in: one.folder)
        #expect(
            Set(wishes) == [
                .package("FI", group: nil, language: nil, format: "mbtiles"),
                .package("FI", group: "terrain", language: nil, format: "mbtiles"),
                .packs("EE", group: nil, language: nil), .packs("LV", group: nil, language: nil),
            ])
        #expect(wishes.allSatisfy { $0.isThere(in: one.document.index) })
        #expect(
            !InstallWish.package("FI", group: nil, language: "de", format: "mbtiles").isThere(in: one.document.index))

        #expect(throws: CLIError.self) { try one.folder.holdings(["SE"], groups: [], styles: []) }
        #expect(throws: CLIError.self) { try one.folder.holdings(["EE"], groups: ["terrain"], styles: []) }
        try one.folder.remove(try one.folder.holdings(["EE"], groups: [], styles: []))
        #expect(try packs(shop) == Set(second.packs.map(\.path)).map { String($0.dropFirst(6)) }.sorted())
        #expect(Set(first.packs.map(\.path)) != Set(second.packs.map(\.path)))
        #expect(!FileManager.default.fileExists(atPath: shop.file("device/regions/EE.json").path))
        try one.folder.remove(try one.folder.holdings(["FI"], groups: ["terrain"], styles: []))
        #expect(!FileManager.default.fileExists(atPath: shop.file("device/groups").path))
        #expect(FileManager.default.fileExists(atPath: shop.file("device/FI.mbtiles").path))
        #expect(
            try InstallWish.installed(in: one.folder) == [
                .package("FI", group: nil, language: nil, format: "mbtiles"), .packs("LV", group: nil, language: nil),
            ])
    }
}
