import CatalogFormat
import Digests
import Errors
import Files
import Foundation
import Testing

@testable import Catalog

/// Files that belong to packages and are no maps.
struct CompanionTests {
    private let scratch: Scratch
    private let folder: URL
    private let key = CatalogSecretKey()

    init() throws {
        scratch = try Scratch()
        folder = scratch.file("catalog")
        let catalog = try open(creating: true)
        _ = try catalog.publish(try scratch.request("EE", "map"))
    }

    private func open(creating: Bool = false) throws -> Catalog {
        try Catalog(
            folder, create: creating, baseURL: creating ? "https://maps.example/" : nil, signingKey: key)
    }

    private func file(_ name: String, _ text: String) throws -> URL {
        let url = scratch.file(name)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
        return url
    }

    private func refusal(_ work: () throws -> Void) -> CatalogErrorCode? {
        do { try work() } catch { return (error as? CatalogError)?.code }
        return nil
    }

    private func index() throws -> CatalogIndex {
        let bytes = Array(try Data(contentsOf: folder.appending(path: "catalog.json")))
        let signature = try Data(contentsOf: folder.appending(path: "catalog.json.sig"))
        try CatalogSignature(decoding: Array(signature)).check(bytes, by: try key.publicKey)
        return try CatalogIndex(decoding: bytes)
    }

    @Test func aFileIsListedWithTheAreaOfItsMap() throws {
        let catalog = try open()
        let first = try catalog.attach(
            contentsOf: try file("EE.vtiles", "graph 1"), to: "EE", kind: "routing.valhalla", engine: "3.6",
            dataDate: "2026-11-01")
        #expect(first.file == "groups/routing-valhalla/packages/1/EE.vtiles" && first.version == 1 && !first.unchanged)
        let package = try #require(
            try index().package("EE", in: CatalogEdition(group: "routing-valhalla"))?.versions.first)
        #expect(
            package.companion == CatalogCompanion(kind: "routing.valhalla", fileExtension: ".vtiles", engine: "3.6"))
        #expect(package.tileMask == "QAAA:14" && package.dataDate == "2026-11-01")
        #expect(package.files.map(\.format) == ["opaque"] && package.files.map(\.url) == [first.file])
        #expect(package.files.map(\.sha256) == [Digest(of: Array("graph 1".utf8)).hex])
        // CARTO's client: whole numbers, an absolute address that ends in the extension it knows, the map's mask and names.
        let list = try JSONSerialization.jsonObject(
            with: try Data(contentsOf: folder.appending(path: "groups/routing-valhalla/packages.json")))
        let entry = try #require(((list as? [String: Any])?["packages"] as? [[String: Any]])?.first)
        #expect(entry["url"] as? String == "https://maps.example/" + first.file)
        #expect(entry["tile_mask"] as? String == "QAAA:14" && entry["size"] as? Int == 7)
        #expect((entry["metainfo"] as? [String: String])?["name_en"] == "Europe/Estonia")
        #expect(try catalog.verify().isVerified)
        // The original may change: the catalog has bytes of its own.
        let handle = try FileHandle(forWritingTo: scratch.file("EE.vtiles"))
        try handle.write(contentsOf: Data("other".utf8))
        try handle.close()
        #expect(try catalog.verify().isVerified)
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: ".making").path))
    }

    @Test func equalBytesKeepTheirVersionAndOthersGetANewOne() throws {
        let catalog = try open()
        func attach(_ text: String, engine: String? = nil, dry: Bool = false) throws -> AttachedCompanion {
            try catalog.attach(
                contentsOf: try file("EE.db", text), to: "EE", kind: "search", engine: engine, isDry: dry)
        }
        #expect(try attach("a", dry: true).version == 1)
        #expect(try catalog.companions().isEmpty && index().packages.count == 1)
        #expect(try attach("a").version == 1)
        let sequence = try #require(try index().sequence)
        #expect(try attach("a").unchanged && index().sequence == sequence)
        #expect(try attach("a", dry: true).unchanged)
        // Another engine for the same bytes is another version: devices learn it.
        #expect(try attach("a", engine: "2").version == 2)
        #expect(try catalog.companions().map(\.entry.companion?.engine) == ["2"])
        #expect(try attach("b", engine: "2", dry: true).version == 3)
        #expect(try attach("b", engine: "2").version == 3 && index().sequence ?? 0 > sequence)
        let versions = try #require(try index().package("EE", in: CatalogEdition(group: "search"))?.versions)
        #expect(versions.map(\.version) == [3, 2, 1] && versions.map(\.companion?.engine) == ["2", "2", nil])
        // The version before has the bytes of the first, and a patch of its own: one copy.
        let wanted = try catalog.wantedPatches(in: CatalogEdition(group: "search"))
        #expect(wanted.map { "\($0.from)-\($0.to) \($0.format ?? "-")" } == ["2-3 opaque", "1-3 opaque"])
        // A rollback brings the first file back.
        let plan = try catalog.planRollback(
            of: CatalogSelection(["EE"], edition: CatalogEdition(group: "search")), to: 1)
        try catalog.apply(plan)
        let back = try #require(try catalog.companions().first)
        #expect(
            back.entry.version == 4 && back.entry.companion?.engine == nil
                && back.entry.sha256 == Digest(of: Array("a".utf8)).hex)
        #expect(try catalog.verify().isVerified)
        #expect(try catalog.prune(keep: 1, dryRun: false).files.count == 3)
        #expect(try catalog.verify().isVerified)
    }

    @Test func whatCannotBeListedIsRefused() throws {
        let catalog = try open()
        let good = try file("good.bin", "x")
        for kind in ["", "Routing", "routing-valhalla", ".a", "a..b", "a/b", String(repeating: "a", count: 33)] {
            #expect(
                refusal { _ = try catalog.attach(contentsOf: good, to: "EE", kind: kind) } == .badRequest, "\(kind)")
        }
        #expect(refusal { _ = try catalog.attach(contentsOf: good, to: "LV", kind: "search") } == .missingPackage)
        #expect(
            refusal { _ = try catalog.attach(contentsOf: scratch.file("none"), to: "EE", kind: "search") }
                == .badRequest)
        #expect(
            refusal { _ = try catalog.attach(contentsOf: try file("empty", ""), to: "EE", kind: "search") }
                == .badRequest)
        #expect(
            refusal { _ = try catalog.attach(contentsOf: good, to: "EE", kind: "search", engine: "3\n") } == .badRequest
        )
        let odd = try file("EE.a b", "x")
        #expect(refusal { _ = try catalog.attach(contentsOf: odd, to: "EE", kind: "search") } == .badRequest)
        // A group of maps is no place of companions, and the reverse.
        var terrain = try scratch.request("EE", "terrain")
        terrain.options.edition = try CatalogEdition(group: "terrain")
        _ = try catalog.publish(terrain)
        #expect(refusal { _ = try catalog.attach(contentsOf: good, to: "EE", kind: "terrain") } == .badRequest)
        _ = try catalog.attach(contentsOf: good, to: "EE", kind: "search")
        var map = try scratch.request("EE", "other")
        map.options.edition = try CatalogEdition(group: "search")
        #expect(refusal { _ = try catalog.publish(map) } == .badRequest)
        var neighbour = try scratch.request("LV", "other")
        neighbour.options.edition = try CatalogEdition(group: "search")
        #expect(refusal { _ = try catalog.publish(neighbour) } == .badRequest)
        let unsigned = try Catalog(folder, create: false)
        #expect(refusal { _ = try unsigned.attach(contentsOf: good, to: "EE", kind: "search") } == .signingKey)
        #expect(refusal { _ = try unsigned.detach(["EE"], kind: "search", isDry: false) } == .signingKey)
        #expect(try catalog.verify().isVerified)
    }

    @Test func companionsGoAloneOrWithTheirMap() throws {
        let catalog = try open()
        _ = try catalog.attach(contentsOf: try file("a.vtiles", "a"), to: "EE", kind: "routing.valhalla")
        let other = try catalog.attach(contentsOf: try file("b.db", "b"), to: "EE", kind: "search")
        #expect(refusal { _ = try catalog.detach(["EE"], kind: "contours", isDry: false) } == .missingPackage)
        #expect(refusal { _ = try catalog.detach(["LV"], kind: "search", isDry: false) } == .missingPackage)
        #expect(try catalog.detach(["EE"], kind: "search", isDry: true).files == [other.file])
        #expect(try catalog.companions().count == 2)
        #expect(try catalog.detach(["EE"], kind: "search", isDry: false).files == [other.file])
        #expect(try catalog.companions().map(\.kind) == ["routing.valhalla"])
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: other.file).path))
        #expect(try catalog.packages().count == 1 && catalog.verify().isVerified)
        // A version number is not used again.
        #expect(try catalog.attach(contentsOf: try file("b.db", "b"), to: "EE", kind: "search").version > 1)
        _ = try catalog.remove(["EE"], dryRun: false)
        #expect(try catalog.companions().isEmpty && index().packages.isEmpty)
    }

    /// What killed processes left is removed, unless something else is being attached.
    @Test func copiesOfKilledProcessesAreRemoved() throws {
        let catalog = try open()
        let making = folder.appending(path: ".making")
        try FileManager.default.createDirectory(at: making, withIntermediateDirectories: true)
        let left = making.appending(path: "companion-0123456789abcdef0123456789abcdef")
        let patch = making.appending(path: "EE-1-2.mbtiles")
        for url in [left, patch] { try Data("half".utf8).write(to: url) }
        var other: FolderInUse? = FolderInUse(folder) {}
        _ = try catalog.attach(contentsOf: try file("a.vtiles", "a"), to: "EE", kind: "routing")
        #expect(FileManager.default.fileExists(atPath: left.path))
        withExtendedLifetime(other) {}
        other = nil
        _ = try catalog.attach(contentsOf: try file("b.vtiles", "b"), to: "EE", kind: "routing")
        #expect(!FileManager.default.fileExists(atPath: left.path))
        #expect(FileManager.default.fileExists(atPath: patch.path), "patches are made by others")
    }

    /// A promotion leaves the companions of the live catalog, so their absence in staging is no loss.
    @Test func companionsThatStagingLacksAreNotCompared() throws {
        let live = try open()
        _ = try live.attach(contentsOf: try file("EE.vtiles", "graph"), to: "EE", kind: "routing.valhalla")
        let staging = try Catalog(scratch.file("staging"), create: true)
        _ = try staging.publish(try scratch.request("EE", "map 2"))
        let difference = try CatalogDifference(new: staging, old: live, of: CatalogSelection(["EE"]))
        #expect(difference.packages.map { "\($0.change) \($0.edition)\($0.id)" } == ["changed EE"])
        #expect(difference.shrunk(beyond: 0).isEmpty && difference.shrinkage == 0)
        // One that both have is compared.
        _ = try staging.attach(contentsOf: try file("small", "g"), to: "EE", kind: "routing.valhalla")
        let smaller = try CatalogDifference(new: staging, old: live, of: CatalogSelection(["EE"]))
        #expect(smaller.shrunk(beyond: 0.5).map(\.edition) == ["groups/routing-valhalla/"])
    }

    @Test func aPromotionTakesCompanionsAlong() throws {
        let staging = try Catalog(scratch.file("staging"), create: true)
        _ = try staging.publish(try scratch.request("EE", "map 2"))
        _ = try staging.attach(
            contentsOf: try file("EE.vtiles", "graph"), to: "EE", kind: "routing.valhalla", engine: "3.6")
        let live = try open()
        let plan = try live.planPromotion(of: CatalogSelection(["EE"]), from: staging)
        try live.apply(plan)
        let companion = try #require(try live.companions().first)
        #expect(companion.entry.companion?.engine == "3.6" && companion.entry.path.hasSuffix("/EE.vtiles"))
        #expect(try live.verify().isVerified)
        #expect(try live.planPromotion(of: CatalogSelection(["EE"]), from: staging).isEmpty)
        // What the promotion added is withdrawn when it is undone.
        try live.apply(try live.planRollback())
        #expect(try live.companions().isEmpty && live.verify().isVerified)
        #expect(try index().packages.map(\.id) == ["EE"])
    }
}
