import Catalog
import CatalogFormat
import CatalogTransfer
import Digests
import Files
import Foundation
import Packages
import TestSupport
import Testing

@testable import Commands

/// Catalogs that are pushed to a folder, and servers that send a client in circles.
struct CatalogFolderTests {
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
        #expect(again.skipped == 1 + list.packs.count && again.sent.isEmpty)
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
}
