import Catalog
import CatalogFormat
import CatalogTransfer
import Digests
import Files
import Foundation
import PackageFiles
import TestSupport
import Testing
import Tiles

@testable import Commands

/// Packages as PMTiles: patches in a catalog, and on a device.
@Suite(.timeLimit(.minutes(15)))
struct DevicePMTilesTests {
    private let shop: Shop
    private let device: DeviceProgram

    init() throws {
        shop = try Shop()
        device = DeviceProgram(shop)
    }

    private func publish(_ version: UInt64, patches: Bool = true) throws {
        try shop.publish("EE", version, others: [try shop.pmtiles(version)], patches: patches)
    }

    private func published(_ path: String) throws -> Data { try Data(contentsOf: shop.file("catalog/\(path)")) }

    private func install() async throws {
        let outcome = try await device.run(
            "install", "EE", "--format", "pmtiles", "--catalog", try shop.address(), "--public-key",
            try shop.key.publicKey.description)
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    private func installed() async throws -> Data {
        try Data(contentsOf: try #require(try await device.files()["EE"]))
    }

    @Test func anUpdateIsAPatchAndGivesThePublishedFile() async throws {
        try publish(1)
        try await install()
        #expect(try await installed() == published("packages/1/EE.pmtiles"))
        try publish(2)
        try publish(3)
        let entry = try #require(try shop.catalog.packages().first)
        #expect(entry.patches.map { "\($0.from) \($0.format ?? "-")" } == ["2 -", "2 pmtiles", "1 -", "1 pmtiles"])
        let told = try await device.run("update", "--dry-run")
        #expect(told.status == 0 && told.output.contains("patch"), "\(told.errors)")
        let update = try await device.run("update")
        #expect(update.status == 0, "\(update.errors)")
        let asked = shop.asked().map(\.path).filter { $0.hasPrefix("pa") }
        #expect(asked == ["packages/1/EE.pmtiles", "patches/EE/1-3.pmtiles.patch"])
        #expect(
            try Digest(of: [UInt8](await installed())) == Digest(of: [UInt8](published("packages/3/EE.pmtiles"))))
        #expect(try await device.run("verify", "--deep").status == 0)
        #expect(device.names("parts").isEmpty)
        // The patch costs the changed tiles.
        let (patch, whole) = (
            try published("patches/EE/1-3.pmtiles.patch").count, try published("packages/3/EE.pmtiles").count
        )
        #expect(patch < whole / 3, "\(patch) of \(whole)")
    }

    @Test func aDamagedPatchCostsTheWholeFileAndNothingElse() async throws {
        try publish(1)
        try await install()
        try publish(2)
        try shop.flip("patches/EE/1-2.pmtiles.patch")
        let update = try await device.run("update")
        #expect(update.status == 0, "\(update.errors)")
        #expect(try await installed() == published("packages/2/EE.pmtiles"))
        #expect(
            shop.asked().map(\.path).filter { $0.hasPrefix("pa") }.suffix(2) == [
                "patches/EE/1-2.pmtiles.patch", "packages/2/EE.pmtiles",
            ])
        #expect(device.names("parts").isEmpty)
    }

    /// A publisher that signs a patch of another file: it is not used, and the whole file is downloaded.
    @Test func aPatchThatMakesAnotherFileIsNotUsed() async throws {
        try publish(1)
        try await install()
        let wrong = try shop.pmtiles(9).url
        try publish(2, patches: false)
        let wanted = try #require(try shop.catalog.wantedPatches("EE").first { $0.format == "pmtiles" })
        let listed = try shop.catalog.make(wanted) { wanted, target in
            let made = try Patch.make(old: wanted.old, new: wrong, into: target)
            return (made.digest, made.size)
        }
        #expect(listed)
        let update = try await device.run("update")
        #expect(update.status == 0, "\(update.errors)")
        #expect(try await installed() == published("packages/2/EE.pmtiles"))
    }

    @Test func anUpdateThatIsKilledIsFinishedByTheNext() async throws {
        try publish(1)
        try await install()
        try publish(2)
        try await device.killUpdates(
            12, seed: 17, copy: shop.file("start"), installed: installed,
            old: try published("packages/1/EE.pmtiles"), new: try published("packages/2/EE.pmtiles"))
    }

    @Test func commandsOfTheCatalogKnowThem() async throws {
        for version in 1...4 as ClosedRange<UInt64> { try publish(version) }
        #expect(try shop.catalog.verify().isVerified)
        let check = try await CatalogCheck.run(try CatalogSource(shop.file("catalog").path), key: shop.key.publicKey)
        #expect(check.paths.contains("patches/EE/3-4.pmtiles.patch"))
        #expect(!check.paths.contains { $0.hasPrefix("patches/EE/1-4") }, "version 1 is gone")
        // Patches to versions that are not kept go with them, and so does a file that no list names.
        try Data([1]).write(to: shop.file("catalog/patches/EE/9-10.pmtiles.patch"))
        let pruned = try shop.catalog.prune(keep: 1, dryRun: false)
        #expect(pruned.files.contains("patches/EE/9-10.pmtiles.patch"))
        #expect(pruned.files.contains("patches/EE/2-3.pmtiles.patch"))
        let left = try FileManager.default.contentsOfDirectory(atPath: shop.file("catalog/patches/EE").path)
        #expect(left.sorted() == ["2-4.mbtiles", "2-4.pmtiles.patch", "3-4.mbtiles", "3-4.pmtiles.patch"])
    }

    /// A patch that was rejected is not made again, and hides none of another format.
    @Test func patchesOfOneFormatDoNotHideThoseOfTheOther() throws {
        try publish(1, patches: false)
        try publish(2, patches: false)
        try publish(3, patches: false)
        for wanted in try shop.catalog.wantedPatches("EE") {
            let isRejected = (wanted.from == 1) == (wanted.format == "pmtiles")
            let listed = try shop.catalog.make(wanted) { wanted, target in
                isRejected ? nil : try CatalogPatchCommand.maker(wanted, target)
            }
            #expect(listed != isRejected)
        }
        let entry = try #require(try shop.catalog.packages().first)
        #expect(entry.patches.map { "\($0.from) \($0.format ?? "-")" } == ["2 pmtiles", "1 -"])
        #expect(try shop.catalog.wantedPatches("EE").isEmpty)
        #expect(try shop.catalog.verify().isVerified)
    }
}
