import Catalog
import CatalogFormat
import CatalogTransfer
import Foundation
import TestSupport
import Testing
import Tiles

@testable import Commands

/// Patches of companions: in a catalog, and on a device.
@Suite(.timeLimit(.minutes(15)))
struct DeviceCompanionPatchTests {
    private let shop: Shop
    private let device: DeviceProgram
    private let edition: CatalogEdition
    private let graphs: [[UInt8]]

    init() throws {
        shop = try Shop()
        device = DeviceProgram(shop)
        edition = try CatalogEdition(group: "routing-valhalla")
        var random = SplitMix(state: 21)
        let first = random.bytes(1_000_000)
        // A half goes to the front, and every hundredth byte of a stretch changes.
        var second = Array(first[400_000...] + first[..<400_000])
        for place in stride(from: 300_000, to: 400_000, by: 100) { second[place] &+= 1 }
        graphs = [first, second, Array(second[5_000...] + first[..<3_000])]
        try shop.publish("EE", 1)
    }

    /// Attaches a graph, with its patches, as the command does.
    private func attach(_ number: Int) throws {
        let file = shop.file("EE.vtiles")
        try Data(graphs[number]).write(to: file)
        _ = try shop.catalog.attach(contentsOf: file, to: "EE", kind: "routing.valhalla", engine: "3.\(number)")
        _ = try shop.catalog.makePatches(to: [edition: ["EE"]], previous: PatchRule.previousVersions)
    }

    private func install() async throws {
        let outcome = try await device.run(
            "install", "EE", "--with", "routing", "--catalog", try shop.address(), "--public-key",
            try shop.key.publicKey.description)
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    private func installed() async throws -> Data {
        let rows = try await device.run("list", "--installed", "--json").json() as? [[String: Any]]
        let companions = try #require(rows?.first?["companions"] as? [[String: Any]])
        return try Data(contentsOf: URL(filePath: try #require(companions.first?["file"] as? String)))
    }

    private func askedFiles() -> [String] {
        shop.asked().map(\.path).filter { $0.contains("groups/routing-valhalla/pa") }
    }

    @Test func anUpdateIsAPatchFromEachOfTwoVersions() async throws {
        try attach(0)
        try await install()
        #expect(try await installed() == Data(graphs[0]))
        try attach(1)
        try attach(2)
        let patches = try #require(try shop.catalog.packages(in: edition).first).patches
        #expect(patches.map(\.from) == [2, 1] && patches.allSatisfy { $0.format == "opaque" && $0.size < 20_000 })
        let told = try await device.run("update", "--dry-run")
        #expect(told.status == 0 && told.output.contains("companions of"), "\(told.output)\(told.errors)")
        let update = try await device.run("update")
        #expect(update.status == 0, "\(update.errors)")
        #expect(try await installed() == Data(graphs[2]))
        #expect(
            askedFiles() == [
                "groups/routing-valhalla/packages/1/EE.vtiles", "groups/routing-valhalla/patches/EE/1-3.opaque.patch",
            ])
        #expect(try await device.run("verify", "--deep").status == 0)
        #expect(device.names("parts").isEmpty)
        let check = try await CatalogCheck.run(try CatalogSource(shop.file("catalog").path), key: shop.key.publicKey)
        #expect(check.paths.contains("groups/routing-valhalla/patches/EE/2-3.opaque.patch"))
    }

    @Test func aDamagedPatchCostsTheWholeFileAndNothingElse() async throws {
        try attach(0)
        try await install()
        try attach(1)
        try shop.flip("groups/routing-valhalla/patches/EE/1-2.opaque.patch")
        let update = try await device.run("update")
        #expect(update.status == 0, "\(update.errors)")
        #expect(try await installed() == Data(graphs[1]))
        #expect(
            askedFiles().suffix(2) == [
                "groups/routing-valhalla/patches/EE/1-2.opaque.patch", "groups/routing-valhalla/packages/2/EE.vtiles",
            ])
        #expect(device.names("parts").isEmpty)
    }

    @Test func anUpdateThatIsKilledIsFinishedByTheNext() async throws {
        try attach(0)
        try await install()
        try attach(1)
        try await device.killUpdates(
            10, seed: 23, copy: shop.file("start"), installed: installed, old: Data(graphs[0]), new: Data(graphs[1]))
        #expect(!askedFiles().contains("groups/routing-valhalla/packages/2/EE.vtiles"), "each one used the patch")
    }
}
