import Catalog
import CatalogFormat
import Foundation
import TestSupport
import Testing

/// `packhorse device share`: one device gives what it has to another one.
@Suite(.timeLimit(.minutes(15)))
struct DeviceShareTests {
    private let shop: Shop
    private let giver: DeviceProgram
    private let taker: DeviceProgram
    private let file = "packages/1/EE.mbtiles"

    init() throws {
        shop = try Shop()
        giver = DeviceProgram(shop)
        taker = DeviceProgram(shop, store: "other")
        try shop.publish("EE", 1)
        try shop.publish("FR", 50)
    }

    private func published(_ path: String) throws -> Data { try Data(contentsOf: shop.file("catalog/\(path)")) }

    private func key() throws -> String { try shop.key.publicKey.description }

    private func install(_ id: String, _ device: DeviceProgram, from place: String) async throws
        -> DeviceProgram.Outcome
    {
        try await device.run("install", id, "--catalog", place, "--public-key", try key())
    }

    /// The device that gives has Estonia and a companion of it.
    private func fill() async throws {
        let graph = shop.file("EE.vtiles")
        try Data([UInt8](repeating: 9, count: 50_000)).write(to: graph)
        _ = try shop.catalog.attach(contentsOf: graph, to: "EE", kind: "routing.valhalla")
        let outcome = try await giver.run(
            "install", "EE", "--with", "routing", "--catalog", try shop.address(), "--public-key", try key())
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test func aFolderIsACatalogOfWhatIsInstalled() async throws {
        try await fill()
        let folder = shop.file("usb/maps")
        let made = try await giver.run("share", folder.path)
        #expect(made.status == 0 && made.output == "EE\nrouting.valhalla of EE\n", "\(made.output)\(made.errors)")
        for name in ["catalog.json", "catalog.json.sig"] {
            #expect(try Data(contentsOf: folder.appending(path: name)) == published(name))
        }
        // Linked: it takes no space.
        let place = try #require(try await giver.files()["EE"])
        func inode(_ url: URL) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: url.path)[.systemFileNumber] as? Int
        }
        #expect(try inode(place) == inode(folder.appending(path: file)))

        let installed = try await taker.run(
            "install", "EE", "--with", "routing", "--catalog", folder.path, "--public-key", try key())
        #expect(installed.status == 0, "\(installed.errors)")
        #expect(try Data(contentsOf: try #require(try await taker.files()["EE"])) == published(file))
        let missing = try await install("FR", taker, from: folder.path)
        #expect(missing.status == 66, "\(missing.errors)")
        #expect(missing.errors.contains("does not have FR; it has EE, routing.valhalla of EE"), "\(missing.errors)")

        // The publisher's next version is a patch for the device that took its map from the share.
        try shop.publish("EE", 2)
        let before = shop.asked().count
        let update = try await taker.run("update", "EE", "--catalog", try shop.address())
        #expect(update.status == 0, "\(update.errors)")
        #expect(try Data(contentsOf: try #require(try await taker.files()["EE"])) == published("packages/2/EE.mbtiles"))
        #expect(shop.asked().dropFirst(before).contains { $0.path == "patches/EE/1-2.mbtiles" })
        // The installation that the share could not do is done now; nothing else is downloaded whole.
        let whole = shop.asked().dropFirst(before).map(\.path).filter { $0.hasPrefix("packages") }
        #expect(Set(whole).subtracting(["packages/1/FR.mbtiles"]).isEmpty, "\(whole)")
    }

    @Test func anEarlierShareIsBroughtUpToDate() async throws {
        try await fill()
        let folder = shop.file("usb")
        #expect(try await giver.run("share", folder.path, "--copy").status == 0)
        let again = try await giver.run("share", folder.path, "--copy", "--json")
        let report = try #require(try again.json() as? [String: Any])
        #expect(report["kept"] as? Int == 2 && (report["added"] as? [String])?.isEmpty == true)
        try shop.publish("EE", 2)
        #expect(try await giver.run("update").status == 0)
        // What somebody else has put there stays.
        let mine = ["notes.txt", "work/packages/1/app.deb", "packages/1/mine.mbtiles"].map {
            folder.appending(path: $0)
        }
        for url in mine {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: url)
        }
        #expect(try await giver.run("share", folder.path, "--copy").status == 0)
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: file).path))
        #expect(
            try Data(contentsOf: folder.appending(path: "packages/2/EE.mbtiles")) == published("packages/2/EE.mbtiles"))
        for url in mine { #expect(FileManager.default.fileExists(atPath: url.path), "\(url.path)") }
        #expect(try await install("EE", taker, from: folder.path).status == 0)
        let wrong = try await giver.run("share", shop.file("catalog").path)
        let stranger = shop.file("stranger")
        try FileManager.default.createDirectory(at: stranger, withIntermediateDirectories: true)
        try Data("{}".utf8).write(to: stranger.appending(path: "share.json"))
        #expect(try await giver.run("share", stranger.path).status == 73)
        #expect(wrong.status == 73 && wrong.errors.contains("is no earlier share"), "\(wrong.errors)")
    }

    @Test func aDamagedFileIsNotShared() async throws {
        try await fill()
        #expect(try await install("FR", giver, from: try shop.address()).status == 0)
        let place = try #require(try await giver.files()["FR"])
        var bytes = try Data(contentsOf: place)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: place)
        let folder = shop.file("usb")
        let made = try await giver.run("share", folder.path)
        #expect(made.status == 0 && made.errors.contains("FR is damaged and not shared"), "\(made.errors)")
        #expect(!made.output.contains("FR"))
        let missing = try await install("FR", taker, from: folder.path)
        #expect(
            missing.status == 66 && missing.errors.contains("it has EE, routing.valhalla of EE"), "\(missing.errors)")
    }

    @Test func aServerGivesRangesAndSaysWhatItHas() async throws {
        try await fill()
        let address = try await giver.start("share", "--port", "0")
        #expect(address.hasPrefix("http://127.0.0.1:") && address.hasSuffix("/"))
        let base = try #require(URL(string: address))
        func get(_ path: String, _ headers: [String: String] = [:]) async throws -> RawHTTPClient {
            let fields = ["Host": "127.0.0.1", "Connection": "close"].merging(headers) { $1 }
            let lines = fields.map { "\($0): \($1)\r\n" }.joined()
            return try await RawHTTPClient.send("GET /\(path) HTTP/1.1\r\n\(lines)\r\n", to: .port(base.port ?? 0))
        }
        let whole = [UInt8](try published(file))
        let part = try await get(file, ["Range": "bytes=1000-"])
        #expect(part.status == 206 && part.body == Array(whole.dropFirst(1_000)))
        #expect(part.headers["content-range"] == "bytes 1000-\(whole.count - 1)/\(whole.count)")
        #expect(try await get(file, ["Range": "bytes=\(whole.count)-"]).status == 416)
        #expect(try await get("catalog.json").body == [UInt8](published("catalog.json")))
        let gone = try await get("packages/1/FR.mbtiles")
        #expect(gone.status == 404)
        #expect(
            gone.text
                == "the share does not have FR; it has EE, routing.valhalla of EE\n")
        for path in ["../store.sqlite", "store.sqlite", "device.json", "packages/1/..%2f..%2fdevice.json"] {
            #expect([400, 404].contains(try await get(path).status), "\(path)")
        }
        #expect(try await get(file, ["Host": "evil.example"]).status == 421)
        let installed = try await install("EE", taker, from: address)
        #expect(installed.status == 0, "\(installed.errors)")
        let missing = try await install("FR", taker, from: address)
        #expect(missing.status == 66, "\(missing.errors)")
        #expect(missing.errors.contains("the share at '\(address)' does not have FR; it has EE"), "\(missing.errors)")
    }

    /// The device that gives is updated while others install from it: each gets a whole version.
    @Test func aShareServesWhileAnUpdateHappens() async throws {
        try await fill()
        let address = try await giver.start("share", "--port", "0")
        for version: UInt64 in 2...4 {
            try shop.publish("EE", version)
            let device = DeviceProgram(shop, store: "taker-\(version)")
            async let update = giver.run("update", "EE")
            async let installation = install("EE", device, from: address)
            let (updated, installed) = try await (update, installation)
            #expect(updated.status == 0 && installed.status == 0, "\(updated.errors)\(installed.errors)")
            let place = try #require(try await device.files()["EE"])
            let bytes = try Data(contentsOf: place)
            let versions = try [version - 1, version].map { try published("packages/\($0)/EE.mbtiles") }
            #expect(versions.contains(bytes), "version \(version)")
            // Afterwards the share has the new one.
            let outcome = try await device.run("update")
            #expect(outcome.status == 0, "\(outcome.errors)")
            let newest = try #require(try await device.files()["EE"])
            #expect(try Data(contentsOf: newest) == published("packages/\(version)/EE.mbtiles"))
        }
    }

    @Test func aKilledTakerGoesOn() async throws {
        try await fill()
        let folder = shop.file("usb")
        #expect(try await giver.run("share", folder.path).status == 0)
        let half = try published(file).count / 2
        let slow = try MirrorServer(folder) { path, from, bytes in
            path.hasSuffix(".mbtiles") && from == 0 ? .stall(MirrorServer.half(bytes, from: 0, until: half)) : nil
        }
        let process = try taker.begin("install", "EE", "--catalog", slow.url, "--public-key", try key())
        let parts = taker.store.appending(path: "parts")
        try await Eventually.holds("half of the file") {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: parts.path)) ?? []
            return names.contains { (try? Data(contentsOf: parts.appending(path: $0)))?.count == half }
        }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        // It goes on from the folder itself.
        let outcome = try await install("EE", taker, from: folder.path)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try Data(contentsOf: try #require(try await taker.files()["EE"])) == published(file))
    }
}
