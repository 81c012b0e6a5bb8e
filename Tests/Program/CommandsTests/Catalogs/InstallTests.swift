import Catalog
import CatalogFormat
import CatalogTransfer
import CommandSupport
import Errors
import Files
import Foundation
import Testing

@testable import Commands

/// A device's side: installs and updates against a real server.
struct InstallTests {
    /// Plans and does what `packhorse install` would for one package.
    @discardableResult
    private func install(
        _ shop: Shop, _ id: String = "EE", group: String? = nil, language: String? = nil, format: String = "mbtiles",
        dryRun: Bool = false, from place: String? = nil
    ) async throws -> Installer.Step {
        let source = try CatalogSource(try place ?? shop.address())
        let document = try #require(try await CatalogDocument.read(source, key: try shop.key.publicKey))
        let installer = Installer(
            source: source, document: document, folder: try InstallFolder(shop.file("device")))
        let step = try await installer.step(id, group: group, language: language, format: format)
        if !dryRun { try await installer.run(step) { _ in } }
        return step
    }

    private func digest(_ shop: Shop, _ path: String = "EE.mbtiles") throws -> String {
        try Digest.ofFile(shop.file("device/\(path)")).digest.hex
    }

    private func published(_ shop: Shop, _ path: String) throws -> String {
        try Digest.ofFile(shop.file("catalog/\(path)")).digest.hex
    }

    private func leftovers(_ shop: Shop) throws -> [String] {
        let folder = shop.file("device/.downloads")
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
    }

    @Test func whatIsThereIsNotFetchedAndAnUpdateIsAPatch() async throws {
        let shop = try Shop()
        try shop.publish("EE", 1)
        #expect(try await install(shop).plan == .whole)
        #expect(try digest(shop) == published(shop, "packages/1/EE.mbtiles"))
        let before = shop.asked().count
        #expect(try await install(shop).plan == .upToDate)
        #expect(shop.asked().dropFirst(before).map(\.path) == ["catalog.json", "catalog.json.sig"])

        try shop.publish("EE", 2)
        try shop.publish("EE", 3)
        let step = try await install(shop)
        guard case .patch(let patch) = step.plan else {
            Issue.record("\(step.plan)")
            return
        }
        #expect(patch.from == 1 && step.installed == 1 && patch.size < step.file.size / 2)
        #expect(try digest(shop) == published(shop, "packages/3/EE.mbtiles"))
        #expect(
            shop.asked().map(\.path).filter { $0.hasPrefix("pa") } == [
                "packages/1/EE.mbtiles", "patches/EE/1-3.mbtiles",
            ])
        #expect(try leftovers(shop).isEmpty)
        let record = try String(contentsOf: shop.file("device/installed.json"), encoding: .utf8)
        #expect(record.contains(#""version" : 3"#) && !record.contains(#""version" : 1"#))
    }

    @Test func aVersionThatTheCatalogForgotIsStillPatched() async throws {
        let shop = try Shop(keepVersions: nil)
        try shop.publish("EE", 1)
        try await install(shop)
        try shop.publish("EE", 2)
        _ = try shop.catalog.prune(keep: 1, dryRun: false)
        let step = try await install(shop)
        guard case .patch = step.plan else {
            Issue.record("\(step.plan)")
            return
        }
        #expect(try digest(shop) == published(shop, "packages/2/EE.mbtiles"))
    }

    @Test func aFileThatSomebodyChangedIsFetchedWhole() async throws {
        let shop = try Shop()
        try shop.publish("EE", 1)
        try await install(shop)
        try Data("not what it was".utf8).write(to: shop.file("device/EE.mbtiles"))
        try shop.publish("EE", 2)
        #expect(try await install(shop).plan == .whole)
        #expect(try digest(shop) == published(shop, "packages/2/EE.mbtiles"))
    }

    @Test func aDamagedPatchCostsTheWholeFileAndNothingElse() async throws {
        let shop = try Shop()
        try shop.publish("EE", 1)
        try await install(shop)
        try shop.publish("EE", 2)
        try shop.flip("patches/EE/1-2.mbtiles")
        let step = try await install(shop)
        guard case .patch = step.plan else {
            Issue.record("\(step.plan)")
            return
        }
        #expect(try digest(shop) == published(shop, "packages/2/EE.mbtiles"))
        #expect(try leftovers(shop).isEmpty)
        // One that is gone costs nothing at all.
        try shop.publish("EE", 3)
        try FileManager.default.removeItem(at: shop.file("catalog/patches/EE/2-3.mbtiles"))
        try await install(shop)
        #expect(try digest(shop) == published(shop, "packages/3/EE.mbtiles"))
    }

    @Test func aDownloadGoesOnWhereItWasCut() async throws {
        let shop = try Shop()
        try shop.publish("EE", 1)
        let whole = try Data(contentsOf: shop.file("catalog/packages/1/EE.mbtiles"))
        let half = whole.count / 2
        let source = try CatalogSource(try shop.address())
        let folder = try InstallFolder(shop.file("device"))
        // What an interrupted run left.
        let part = try folder.download(Digest(of: whole).hex)
        try whole.prefix(half).write(to: part)
        let document = try #require(try await CatalogDocument.read(source, key: nil))
        let installer = Installer(source: source, document: document, folder: folder)
        let step = try await installer.step("EE", group: nil, language: nil, format: "mbtiles")
        try await installer.run(step) { _ in }
        #expect(shop.asked().last { $0.path == "packages/1/EE.mbtiles" }?.range == "bytes=\(half)-")
        #expect(try digest(shop) == published(shop, "packages/1/EE.mbtiles"))
        #expect(try leftovers(shop).isEmpty)
        // Left-over bytes that are wrong are thrown away, not kept forever.
        try FileManager.default.removeItem(at: shop.file("device/EE.mbtiles"))
        try Data(repeating: 7, count: half).write(to: part)
        try await installer.run(try await installer.step("EE", group: nil, language: nil, format: "mbtiles")) { _ in }
        #expect(try digest(shop) == published(shop, "packages/1/EE.mbtiles"))
    }

    @Test func wrongBytesFromTheServerLeaveTheOldFile() async throws {
        let shop = try Shop()
        try shop.publish("EE", 1)
        try await install(shop)
        let before = try digest(shop)
        try shop.publish("EE", 2, patches: false)
        try shop.flip("packages/2/EE.mbtiles")
        let error = await #expect(throws: CatalogTransferError.self) { try await install(shop) }
        #expect(error?.exitStatus == .badData && error?.message.contains("packages/2/EE.mbtiles") == true)
        try FileManager.default.removeItem(at: shop.file("catalog/packages/2/EE.mbtiles"))
        let missing = await #expect(throws: CLIError.self) { try await install(shop) }
        #expect(missing?.status == .noInput)
        #expect(try digest(shop) == before)
        #expect(try leftovers(shop).isEmpty)
    }

    /// A broken or hostile catalog: the size in the catalog is wrong, and an empty file is never downloaded.
    @Test func aSizeOfZeroIsBadData() async throws {
        let shop = try Shop()
        try shop.publish("EE", 1)
        let digest = Digest(of: [UInt8]())
        for place in [try shop.address(), shop.file("catalog").path] {
            let source = try CatalogSource(place)
            let error = await #expect(throws: CatalogTransferError.self) {
                try await source.file("packages/1/EE.mbtiles", size: 0, sha256: digest, to: shop.file("part"))
            }
            #expect(error?.exitStatus == .badData)
            #expect(error?.message.contains("packages/1/EE.mbtiles' a size of 0 bytes") == true)
        }
    }

    @Test func aCatalogThatIsNotSignedAsExpectedInstallsNothing() async throws {
        let shop = try Shop()
        try shop.publish("EE", 1)
        try shop.flip("catalog.json", at: 40)
        let changed = await #expect(throws: CatalogError.self) { try await install(shop) }
        #expect(changed?.code == .badSignature)
        try FileManager.default.removeItem(at: shop.file("catalog/catalog.json.sig"))
        let unsigned = await #expect(throws: CatalogError.self) { try await install(shop) }
        #expect(unsigned?.code == .badSignature)
        #expect(!FileManager.default.fileExists(atPath: shop.file("device/EE.mbtiles").path))
    }

    @Test func groupsAndLanguagesAreChosen() async throws {
        let shop = try Shop()
        try shop.publish("EE", 1)
        try shop.publish("EE", 2, edition: try CatalogEdition(language: "de"))
        try shop.publish(
            "EE", 3, edition: try CatalogEdition(group: "terrain"), others: [try shop.other("pmtiles", [1])])
        try await install(shop, language: "de")
        try await install(shop, group: "terrain", language: "de")
        #expect(try digest(shop) == published(shop, "de/packages/1/EE.mbtiles"))
        #expect(
            try digest(shop, "groups/terrain/EE.mbtiles") == published(shop, "groups/terrain/packages/1/EE.mbtiles"))
        try await install(shop, group: "terrain", format: "pmtiles")
        #expect(try Data(contentsOf: shop.file("device/groups/terrain/EE.pmtiles")) == Data([1]))
        // Another language replaces the first.
        try await install(shop)
        #expect(try digest(shop) == published(shop, "packages/1/EE.mbtiles"))
        for (id, group, format) in [("XX", nil, "mbtiles"), ("EE", "none", "mbtiles"), ("EE", nil, "pmtiles")] {
            let error = await #expect(throws: CLIError.self) {
                try await install(shop, id, group: group, format: format)
            }
            #expect(error?.status == .noInput)
        }
    }

    @Test func aFolderIsACatalogTooAndStaysAsItIs() async throws {
        let shop = try Shop()
        try shop.publish("EE", 1)
        try await install(shop, from: shop.file("catalog").path)
        #expect(try digest(shop) == published(shop, "packages/1/EE.mbtiles"))
        let step = try await install(shop, dryRun: true, from: shop.file("catalog").path)
        #expect(step.plan == .upToDate)
        #expect(FileManager.default.fileExists(atPath: shop.file("catalog/packages/1/EE.mbtiles").path))
    }

    @Test func twoInstallersDoNotMeet() throws {
        let shop = try Shop()
        let first = try InstallFolder(shop.file("device"))
        let error = #expect(throws: CLIError.self) { try InstallFolder(shop.file("device")) }
        #expect(error?.status == .temporary)
        withExtendedLifetime(first) {}
    }
}
