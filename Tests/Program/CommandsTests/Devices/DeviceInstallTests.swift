import Catalog
import CatalogFormat
import Foundation
import Synchronization
import TestSupport
import Testing

/// `packhorse device` against a real server: installs, updates and removes packages.
@Suite(.timeLimit(.minutes(15)))
struct DeviceInstallTests {
    private func published(_ shop: Shop, _ path: String) throws -> Data {
        try Data(contentsOf: shop.file("catalog/\(path)"))
    }

    private func key(_ shop: Shop) throws -> String { try shop.key.publicKey.description }

    @Test func anUpdateIsAPatchAndARemovalLeavesNothing() async throws {
        let shop = try Shop()
        let device = DeviceProgram(shop)
        try shop.publish("EE", 1)
        let install = try await device.run(
            "install", "EE", "--catalog", try shop.address(), "--public-key", try key(shop))
        #expect(install.status == 0 && install.output.contains("install EE: done"), "\(install.errors)")
        let first = try #require(try await device.files()["EE"])
        #expect(try Data(contentsOf: first) == published(shop, "packages/1/EE.mbtiles"))
        // The address and the key are kept; what is there is not downloaded again.
        let before = shop.asked().count
        #expect(try await device.run("install", "EE").status == 0)
        #expect(shop.asked().dropFirst(before).allSatisfy { $0.path.hasPrefix("catalog.json") })

        try shop.publish("EE", 2)
        try shop.publish("EE", 3)
        let told = try await device.run("update", "--dry-run")
        #expect(told.status == 0 && told.output.contains("patch"), "\(told.errors)")
        #expect(try Data(contentsOf: first) == published(shop, "packages/1/EE.mbtiles"), "nothing was changed")
        let update = try await device.run("update")
        #expect(update.status == 0, "\(update.errors)")
        let third = try #require(try await device.files()["EE"])
        #expect(try Data(contentsOf: third) == published(shop, "packages/3/EE.mbtiles"))
        let maps = shop.asked().map(\.path).filter { $0.hasPrefix("pa") }
        #expect(maps == ["packages/1/EE.mbtiles", "patches/EE/1-3.mbtiles"])
        #expect(try await device.run("update").errors.contains("everything is up to date"))

        let dry = try await device.run("remove", "EE", "--dry-run")
        #expect(dry.status == 0 && dry.output.contains("EE"), "\(dry.errors)")
        #expect(try await device.run("verify", "--deep").status == 0)
        #expect(try await device.run("remove", "EE").status == 0)
        #expect(device.names("units").isEmpty && device.names("parts").isEmpty)
        #expect(try await device.files().isEmpty)
        #expect(try await device.run("remove", "EE").status == 66)
    }

    @Test func aDamagedPatchCostsTheWholeFileAndNothingElse() async throws {
        let shop = try Shop()
        let device = DeviceProgram(shop)
        try shop.publish("EE", 1)
        #expect(try await device.run("install", "EE", "--catalog", try shop.address()).status == 0)
        try shop.publish("EE", 2)
        try shop.flip("patches/EE/1-2.mbtiles")
        let update = try await device.run("update")
        #expect(update.status == 0, "\(update.errors)")
        let file = try #require(try await device.files()["EE"])
        #expect(try Data(contentsOf: file) == published(shop, "packages/2/EE.mbtiles"))
        #expect(device.names("parts").isEmpty)
    }

    @Test func wrongBytesOfTheServerLeaveTheOldMap() async throws {
        let shop = try Shop()
        let device = DeviceProgram(shop)
        try shop.publish("EE", 1)
        #expect(try await device.run("install", "EE", "--catalog", try shop.address()).status == 0)
        let old = try published(shop, "packages/1/EE.mbtiles")
        try shop.publish("EE", 2, patches: false)
        try shop.flip("packages/2/EE.mbtiles")
        let update = try await device.run("update")
        #expect(update.status == 65 && update.errors.contains("the bytes are not those"), "\(update.errors)")
        let file = try #require(try await device.files()["EE"])
        #expect(try Data(contentsOf: file) == old)
        // The failed task stays in the queue.
        #expect(try await device.run("tasks").output.contains("failed"))
        #expect(try await device.run("cancel", "--all").status == 0)
        #expect(try await device.run("tasks", "--json").output == "[\n\n]\n")
    }

    @Test func aDownloadContinuesWhereItWasCut() async throws {
        let shop = try Shop()
        let device = DeviceProgram(shop)
        try shop.publish("EE", 1)
        let whole = try published(shop, "packages/1/EE.mbtiles")
        let cuts = Atomic<Int>(0)
        shop.trouble.withLock {
            $0 = { request, bytes in
                guard request.path.hasSuffix("EE.mbtiles"), cuts.add(1, ordering: .relaxed).oldValue == 0 else {
                    return nil
                }
                let head = "HTTP/1.1 200 OK\r\nContent-Length: \(bytes.count)\r\n\r\n"
                return .raw(Array(head.utf8) + bytes.prefix(1_000))
            }
        }
        let install = try await device.run("install", "EE", "--catalog", try shop.address())
        #expect(install.status == 0, "\(install.errors)")
        #expect(shop.asked().last?.range == "bytes=1000-")
        let file = try #require(try await device.files()["EE"])
        #expect(try Data(contentsOf: file) == whole)
    }

    @Test func aCatalogThatIsNotSignedAsExpectedInstallsNothing() async throws {
        let shop = try Shop()
        let device = DeviceProgram(shop)
        try shop.publish("EE", 1)
        let other = CatalogSecretKey()
        let wrong = try await device.run(
            "install", "EE", "--catalog", try shop.address(), "--public-key", try other.publicKey.description)
        #expect(wrong.status == 65 && wrong.errors.contains("signature"), "\(wrong.errors)")
        #expect(shop.asked().allSatisfy { $0.path.hasPrefix("catalog.json") })
        #expect(!FileManager.default.fileExists(atPath: device.store.path), "no store is made for it")
        let right = try await device.run(
            "install", "EE", "--catalog", try shop.address(), "--public-key", try key(shop))
        #expect(right.status == 0, "\(right.errors)")
        // A wrong key is not kept.
        #expect(try await device.run("update", "--public-key", try other.publicKey.description).status == 65)
        #expect(try await device.run("update").status == 0)
        try FileManager.default.removeItem(at: shop.file("catalog/catalog.json.sig"))
        let unsigned = try await device.run("update")
        #expect(unsigned.status == 65, "\(unsigned.errors)")
        #expect(try await device.run("update", "--unsigned").status == 0)
    }

    @Test func anOlderCatalogIsRefusedUntilAPersonAllowsIt() async throws {
        let shop = try Shop()
        let device = DeviceProgram(shop)
        try shop.publish("EE", 1)
        let old = try ["catalog.json", "catalog.json.sig"].map { ($0, try published(shop, $0)) }
        try shop.publish("EE", 2)
        let address = try shop.address()
        #expect(try await device.run("install", "EE", "--catalog", address, "--public-key", try key(shop)).status == 0)
        for (name, bytes) in old { try bytes.write(to: shop.file("catalog/\(name)")) }
        let refused = try await device.run("list")
        #expect(refused.status == 65 && refused.errors.contains("older"), "\(refused.errors)")
        #expect(refused.errors.contains("--allow-older"))
        #expect(try await device.run("list", "--allow-older").status == 0)
    }

    @Test func groupsAndLanguagesAreChosen() async throws {
        let shop = try Shop()
        let device = DeviceProgram(shop)
        try shop.publish("EE", 1)
        try shop.publish("EE", 2, edition: try CatalogEdition(group: "terrain"))
        try shop.publish("EE", 3, edition: try CatalogEdition(language: "de"))
        let address = try shop.address()
        let both = try await device.run(
            "install", "EE", "--group", "terrain", "--language", "de", "--catalog", address)
        #expect(both.status == 0, "\(both.errors)")
        #expect(both.errors.contains("without a language"), "terrain has no language: \(both.errors)")
        #expect(Set(try await device.files().keys) == ["EE de", "EE terrain"])
        let missing = try await device.run("install", "SE")
        #expect(missing.status == 66 && missing.errors.contains("SE"), "\(missing.errors)")
        #expect(try await device.run("remove", "EE", "--group", "terrain").status == 0)
        #expect(Set(try await device.files().keys) == ["EE de"])
    }

    @Test func aFolderIsACatalogTooAndStaysAsItIs() async throws {
        let shop = try Shop()
        let device = DeviceProgram(shop)
        try shop.publish("EE", 1)
        let before = try FileManager.default.subpathsOfDirectory(atPath: shop.file("catalog").path).sorted()
        // The data folder of a coordinator has the catalog in a folder of this name.
        let install = try await device.run("install", "EE", "--catalog", shop.folder.path)
        #expect(install.status == 0, "\(install.errors)")
        let file = try #require(try await device.files()["EE"])
        #expect(try Data(contentsOf: file) == published(shop, "packages/1/EE.mbtiles"))
        #expect(try FileManager.default.subpathsOfDirectory(atPath: shop.file("catalog").path).sorted() == before)
        let none = try await device.run("list", "--catalog", shop.file("maps").path)
        #expect(none.status == 66 && none.errors.contains("catalog.json"), "\(none.errors)")
    }

    @Test func aDryRunAndAListMakeNoStore() async throws {
        let shop = try Shop()
        let device = DeviceProgram(shop)
        try shop.publish("EE", 1)
        let address = try shop.address()
        let dry = try await device.run("install", "EE", "--catalog", address, "--dry-run", "--json")
        let estimate = try #require(try dry.json() as? [String: Any], "\(dry.errors)")
        #expect(estimate["transfer"] as? Int == (try published(shop, "packages/1/EE.mbtiles")).count)
        let list = try await device.run("list", "--catalog", address, "--json")
        let catalog = try #require(try list.json() as? [String: Any], "\(list.errors)")
        #expect((catalog["packages"] as? [[String: Any]])?.first?["id"] as? String == "EE")
        #expect(!FileManager.default.fileExists(atPath: device.store.path))
        #expect(try await device.run("status").status == 66)
        #expect(try await device.run("search", "ee", "--catalog", address).output.contains("EE"))
    }
}
