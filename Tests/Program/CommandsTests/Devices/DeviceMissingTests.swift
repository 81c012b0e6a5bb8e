import Catalog
import CatalogFormat
import Foundation
import Synchronization
import TestSupport
import Testing

/// `packhorse device` on a store whose files are lost, or are on a card that is not there.
@Suite(.timeLimit(.minutes(15)))
struct DeviceMissingTests {
    private let shop: Shop
    private let device: DeviceProgram
    private let files = FileManager.default

    init() throws {
        shop = try Shop()
        device = DeviceProgram(shop)
    }

    private func states() async throws -> [String: String] {
        let status = try await device.run("status", "--json")
        let items = (try status.json() as? [String: Any])?["items"] as? [[String: Any]] ?? []
        return Dictionary(
            items.compactMap { item in
                ((item["item"] as? [String: Any])?["id"] as? String).map { ($0, item["state"] as? String ?? "") }
            }
        ) { first, _ in first }
    }

    @Test func aLostFileIsNamedUntilItIsDownloadedAgain() async throws {
        try shop.publish("EE", 1)
        #expect(try await device.run("install", "EE", "--catalog", try shop.address()).status == 0)
        let file = try #require(try await device.files()["EE"])
        try files.removeItem(at: file)
        // Also after other commands have opened the store.
        for _ in 0..<2 {
            let verify = try await device.run("verify")
            #expect(verify.status == 65 && verify.output.contains("EE.mbtiles (EE): The file is missing"), "\(verify)")
        }
        let status = try await device.run("status")
        #expect(status.output.contains("missing"), "\(status.output)")
        #expect(status.errors.contains("the file of EE is missing: \(file.path)"), "\(status.errors)")
        #expect(try await states() == ["EE": "missing"])
        #expect(try await device.run("list", "--installed").errors.contains("the file of EE is missing"))
        let told = try await device.run("update", "--dry-run")
        #expect(told.status == 0 && told.output.contains("EE"), "\(told)")

        let repair = try await device.run("repair")
        #expect(repair.status == 0 && repair.output.contains("downloaded again"), "\(repair)")
        #expect(try await device.files()["EE"] == file)
        #expect(try await device.run("verify", "--deep").status == 0)

        try files.removeItem(at: file)
        let update = try await device.run("update")
        #expect(update.status == 0 && update.output.contains("update EE: done"), "\(update)")
        #expect(try await device.run("verify", "--deep").status == 0)
        // A person can remove what is missing.
        try files.removeItem(at: file)
        #expect(try await device.run("remove", "EE").status == 0)
        #expect(try await device.run("verify").status == 0)
        #expect(try await states().isEmpty)
    }

    @Test(arguments: ["status", "install", "update"])
    func aStoreWhoseDatabaseIsLostKeepsItsMaps(_ command: String) async throws {
        try shop.publish("EE", 1)
        try shop.publish("LV", 1)
        #expect(try await device.run("install", "EE", "--catalog", try shop.address()).status == 0)
        let file = try #require(try await device.files()["EE"])
        for isEmpty in [false, true] {
            for name in try files.contentsOfDirectory(atPath: device.store.path) where name.hasPrefix("store.sqlite") {
                try files.removeItem(at: device.store.appending(path: name))
            }
            if isEmpty { try Data().write(to: device.store.appending(path: "store.sqlite")) }
            let outcome = try await device.run(command == "install" ? ["install", "LV"] : [command])
            #expect(outcome.status == 0, "\(outcome)")
            #expect(try await device.files()["EE"] == file)
            #expect(try await states()["EE"] == "current")
            let verify = try await device.run("verify", "--deep")
            #expect(verify.status == 0, "\(verify)")
        }
        #expect(try await device.files().count == (command == "install" ? 2 : 1))
    }

    @Test func aRepairThatCannotDownloadForgetsNothing() async throws {
        try shop.publish("EE", 1)
        #expect(try await device.run("install", "EE", "--catalog", try shop.address()).status == 0)
        let file = try #require(try await device.files()["EE"])
        // Half of the bytes: damaged, not missing.
        try Data(contentsOf: file).prefix(1_000).write(to: file)
        shop.trouble.withLock { trouble in
            trouble = { request, _ in request.path.hasSuffix("EE.mbtiles") ? .reply(403) : nil }
        }
        let repair = try await device.run("repair")
        #expect(repair.status == 77 && repair.errors.contains("the server refuses it"), "\(repair)")
        #expect(!repair.output.contains("again"), "\(repair.output)")
        let verify = try await device.run("verify")
        #expect(verify.status == 65 && verify.output.contains("(EE)"), "\(verify)")
        shop.trouble.withLock { $0 = { _, _ in nil } }
        let again = try await device.run("repair")
        #expect(again.status == 0, "\(again)")
        #expect(try await device.run("verify", "--deep").status == 0)
    }

    @Test func aLostTilePackIsDownloadedAgain() async throws {
        _ = try shop.publishCut("EE", 1)
        #expect(try await device.run("install", "EE", "--tile-packs", "--catalog", try shop.address()).status == 0)
        let lost = try #require(device.names("packs").first)
        try files.removeItem(at: device.store.appending(path: "packs/\(lost)"))
        let verify = try await device.run("verify")
        #expect(verify.status == 65 && verify.output.contains(lost), "\(verify)")
        #expect(try await states() == ["EE": "missing"])
        #expect(try await device.run("update").status == 0)
        #expect(try await device.run("verify", "--deep").status == 0)
        #expect(try await states() == ["EE": "current"])
    }

    @Test func aFileOnACardComesBackWithItsCard() async throws {
        try shop.publish("EE", 1)
        let card = shop.file("card")
        try files.createDirectory(at: card, withIntermediateDirectories: true)
        let file = card.appending(path: "EE.mbtiles")
        try files.copyItem(at: shop.file("catalog/packages/1/EE.mbtiles"), to: file)
        #expect(try await device.run("adopt", file.path, "--link").status == 0)
        #expect(try await device.run("verify").status == 0)
        // The card is taken out.
        let drawer = shop.file("drawer")
        try files.moveItem(at: card, to: drawer)
        for words in [["verify"], ["repair"], ["verify"]] {
            let outcome = try await device.run(words)
            #expect(
                outcome.status == 65 && outcome.output.contains("\(file.path) (EE): The file is missing"), "\(outcome)")
        }
        let status = try await device.run("status")
        #expect(status.errors.contains("the file of EE is missing: \(file.path); put its card back"), "\(status)")
        let update = try await device.run("update", "--catalog", try shop.address())
        #expect(
            update.errors.contains("the file of EE is missing") && !update.errors.contains("up to date"), "\(update)")
        #expect(try await device.files().isEmpty)
        // It is put in again: the files have other numbers.
        try files.createDirectory(at: card, withIntermediateDirectories: true)
        let old = drawer.appending(path: "EE.mbtiles")
        var before = stat()
        #expect(stat(old.path, &before) == 0)
        let times = [before.st_atim, before.st_mtim]
        try Data(contentsOf: old).write(to: file)
        #expect(utimensat(AT_FDCWD, file.path, times, 0) == 0)
        #expect(try await device.run("verify", "--deep").status == 0)
        #expect(try await device.files()["EE"] == file)
        #expect(try await states() == ["EE": "current"])
    }

    /// Plain `verify` looks at what a look costs nothing.
    @Test func aLinkedFileThatIsCutIsFound() async throws {
        try shop.publish("EE", 1)
        let file = shop.file("EE.mbtiles")
        let bytes = try Data(contentsOf: shop.file("catalog/packages/1/EE.mbtiles"))
        try bytes.write(to: file)
        #expect(try await device.run("adopt", file.path, "--link").status == 0)
        try bytes.prefix(bytes.count / 2).write(to: file)
        let verify = try await device.run("verify")
        #expect(verify.status == 65 && verify.output.contains("now \(bytes.count / 2) bytes"), "\(verify)")
        let repair = try await device.run("repair")
        #expect(repair.status == 65, "\(repair)")
        #expect(try await device.run("verify").status == 65, "the item stays until a person removes it")
    }

    /// A process that serves sees a card that is taken out and put in again.
    @Test func aServerSeesTheCardComeAndGo() async throws {
        try shop.publish("EE", 1)
        let file = shop.file("EE.mbtiles")
        try files.copyItem(at: shop.file("catalog/packages/1/EE.mbtiles"), to: file)
        #expect(try await device.run("adopt", file.path, "--link").status == 0)
        let drawer = shop.file("drawer.mbtiles")
        try files.moveItem(at: file, to: drawer)
        let address = try await device.start("serve", "--port", "0")
        #expect(address.hasPrefix("http://"))
        #expect(try await device.run("verify").status == 65)
        try files.moveItem(at: drawer, to: file)
        try await Eventually.holds("the file is back") { try await device.files()["EE"] == file }
        #expect(try await device.run("verify").status == 0)
    }
}
