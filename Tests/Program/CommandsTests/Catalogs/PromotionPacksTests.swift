import Catalog
import CatalogFormat
import CatalogTransfer
import Coordinator
import Foundation
import PackageFiles
import TestSupport
import Testing

@testable import Commands

/// Promotions and rollbacks of real packages: tile packs and patches belong to the new versions.
struct PromotionPacksTests {
    private let live: Shop
    private let staging: Shop

    init() throws { (live, staging) = (try Shop(), try Shop()) }

    private func carryOut(_ kind: CatalogOrder.Kind) throws -> CatalogPlan {
        try live.catalog.carryOut(CatalogOrder(kind, of: CatalogSelection(["EE"])), cutting: CatalogPacks.maker)
    }

    private var promotion: CatalogOrder.Kind {
        .promotion(from: staging.catalog.folder, maxShrink: CatalogDifference.usualShrinkage)
    }

    /// The SHA-256 of the package whose packs are listed, after every byte of the catalog was checked.
    private func provenPacks() async throws -> String? {
        let source = try CatalogSource(live.catalog.folder.path)
        _ = try await CatalogCheck.run(source, key: try live.key.publicKey)
        let index = try #require(try await CatalogDocument.read(source, key: try live.key.publicKey)).index
        let list = try #require(index.package("EE", in: .main)?.tilePacks)
        let bytes = Array(try Data(contentsOf: live.file("catalog/\(list.url)")))
        return try TilePackList(decoding: bytes, named: list.url).package
    }

    @Test func tilePacksGoForwardAndBack() async throws {
        let old = try live.publishCut("EE", 1)
        let new = try staging.publishCut("EE", 2)
        #expect(try carryOut(promotion).difference.packages.map(\.published) == [2])
        #expect(try await provenPacks() == new.package)
        #expect(try live.catalog.prune(keep: 3, dryRun: false).files.allSatisfy { $0.hasPrefix("packs/") })
        // The packs of the first version are gone, and are cut again.
        #expect(try carryOut(.rollback(to: nil)).difference.packages.map(\.published) == [3])
        #expect(try await provenPacks() == old.package)
        #expect(try live.catalog.packages().map(\.sha256) == [old.package])
    }

    /// A package that staging has without packs has none after its promotion.
    @Test func packsOfTheVersionBeforeAreNotListed() throws {
        _ = try live.publishCut("EE", 1)
        try staging.publish("EE", 2, patches: false)
        #expect(try carryOut(promotion).difference.warnings.contains { $0.contains("loses its tile packs") })
        #expect(!FileManager.default.fileExists(atPath: live.file("catalog/regions/EE.json").path))
    }

    @Test func patchesLeadToThePromotedVersionAndBack() throws {
        try live.publish("EE", 1, patches: false)
        try staging.publish("EE", 2, patches: false)
        for kind in [promotion, .rollback(to: 1)] {
            _ = try carryOut(kind)
            for wanted in try live.catalog.wantedPatches("EE") {
                #expect(try live.catalog.make(wanted, with: CatalogPatchCommand.maker))
            }
        }
        let listed = try #require(try live.catalog.packages().first)
        #expect(listed.version == 3 && listed.patches.map(\.from) == [2])
        let result = live.file("result.mbtiles")
        _ = try Patch.apply(
            live.file("catalog/\(listed.patchPath(from: 2))"), to: live.file("catalog/packages/2/EE.mbtiles"),
            into: result,
            expecting: nil)
        #expect(try Data(contentsOf: result) == Data(contentsOf: live.file("catalog/packages/1/EE.mbtiles")))
    }
}
