import Catalog
import CatalogFormat
import Files
import Foundation
import Synchronization
import TestSupport
import Testing

/// `packhorse device` with a catalog that names mirrors, against several real servers.
@Suite(.timeLimit(.minutes(15)))
struct DeviceMirrorTests {
    private let shop: Shop
    private let device: DeviceProgram
    private let file = "packages/1/EE.mbtiles"

    init() throws {
        shop = try Shop()
        device = DeviceProgram(shop)
        try shop.publish("EE", 1)
    }

    private func published(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: shop.file("catalog/\(path)")))
    }

    /// A mirror of the catalog's folder as it is at each request, which the catalog names.
    private func mirror(_ trouble: @escaping MirrorServer.Trouble = { _, _, _ in nil }) throws -> MirrorServer {
        let server = try MirrorServer(shop.file("catalog"), trouble)
        try shop.catalog.add(mirror: server.url)
        return server
    }

    private func install(_ ids: String...) async throws -> DeviceProgram.Outcome {
        try await device.run(
            ["install"] + ids + [
                "--catalog", try shop.address(), "--public-key", try shop.key.publicKey.description,
            ])
    }

    /// The catalog's own server does this with a file.
    private func own(_ path: String, _ answer: @escaping @Sendable ([UInt8], Int) -> ScriptedServer.Answer?) {
        shop.trouble.withLock {
            $0 = { request, bytes in
                guard request.path.hasSuffix(path) else { return nil }
                let range = request.headers["range"]
                return answer(bytes, range.flatMap { Int($0.dropFirst("bytes=".count).prefix { $0 != "-" }) } ?? 0)
            }
        }
    }

    private func expectInstalled(_ id: String, _ path: String) async throws {
        let place = try #require(try await device.files()[id])
        #expect(try [UInt8](Data(contentsOf: place)) == published(path))
    }

    @Test func aDownloadGoesOnAtTheMirror() async throws {
        let half = try published(file).count / 2
        let mirror = try mirror()
        own(file) { bytes, from in .raw(MirrorServer.half(bytes, from: from, until: half)) }
        let outcome = try await install("EE")
        #expect(outcome.status == 0 && !outcome.errors.contains("not asked again"), "\(outcome.errors)")
        try await expectInstalled("EE", file)
        let asked = mirror.asked.filter { $0.path == file }
        #expect(asked.map(\.range) == ["bytes=\(half)-"], "no byte was sent twice")
    }

    @Test func anUpdateNeedsNoneOfTheFirstServer() async throws {
        let mirror = try mirror()
        #expect(try await install("EE").status == 0)
        try shop.publish("EE", 2)
        shop.trouble.withLock { $0 = { _, _ in .raw([]) } }
        let update = try await device.run("update")
        #expect(update.status == 0, "\(update.errors)")
        try await expectInstalled("EE", "packages/2/EE.mbtiles")
        #expect(mirror.wasAsked("catalog.json") && mirror.wasAsked("patches/EE/1-2.mbtiles"))
        // It was down: later files of the run were asked of the mirror first.
        #expect(shop.asked().map(\.path).filter { $0.hasPrefix("patches") }.isEmpty)
    }

    @Test func aLiarIsNamedAndNotAskedAgain() async throws {
        try shop.publish("LV", 50)
        let liar = try mirror { path, from, bytes in
            path.hasSuffix(".mbtiles") ? MirrorServer.serve(MirrorServer.changed(bytes), from: from) : nil
        }
        let honest = try mirror()
        own(".mbtiles") { _, _ in .reply(404) }
        let outcome = try await install("EE", "LV")
        #expect(outcome.status == 0, "\(outcome.errors)")
        try await expectInstalled("EE", file)
        try await expectInstalled("LV", "packages/1/LV.mbtiles")
        #expect(outcome.errors.components(separatedBy: liar.url).count == 2, "named once: \(outcome.errors)")
        #expect(!outcome.errors.contains(honest.url))
        // Downloads of both may have begun side by side.
        #expect(liar.asked.count { $0.path.hasSuffix(".mbtiles") } <= 2)
        #expect(honest.wasAsked(file) && honest.wasAsked("packages/1/LV.mbtiles"))
    }

    /// The first half is right and the second one is wrong: nobody is blamed for the mixture, and the liar is found alone.
    @Test func aLieInTheSecondHalfHasOneAuthor() async throws {
        let half = try published(file).count / 2
        let liar = try mirror { path, from, bytes in
            path.hasSuffix(".mbtiles") ? MirrorServer.serve(MirrorServer.changed(bytes), from: from) : nil
        }
        let honest = try mirror()
        own(file) { bytes, from in
            from == 0 ? .raw(MirrorServer.half(bytes, from: 0, until: half)) : .reply(503)
        }
        let outcome = try await install("EE")
        #expect(outcome.status == 0, "\(outcome.errors)")
        try await expectInstalled("EE", file)
        #expect(outcome.errors.contains(liar.url), "\(outcome.errors)")
        let own = try shop.address()
        #expect(!outcome.errors.contains(honest.url) && !outcome.errors.contains(own))
    }

    @Test func aMirrorWithAnOlderListTakesNothingBack() async throws {
        let old = shop.file("old")
        try shop.publish("EE", 2)
        let behind = try MirrorServer(old)
        try shop.catalog.add(mirror: behind.url)
        try FileManager.default.copyItem(at: shop.file("catalog"), to: old)
        try shop.publish("EE", 3)
        #expect(try await install("EE").status == 0)
        shop.trouble.withLock { $0 = { _, _ in .reply(404) } }
        let refused = try await device.run("update")
        #expect(refused.status != 0, "\(refused.output)")
        #expect(refused.errors.contains("'\(behind.url)' has an older catalog"), "\(refused.errors)")
        try await expectInstalled("EE", "packages/3/EE.mbtiles")
        // The first server has an old copy too: a mirror with the newest one helps.
        shop.trouble.withLock { $0 = { _, _ in nil } }
        let newest = try mirror()
        #expect(try await device.run("update").status == 0, "the device learns of the second mirror")
        try shop.publish("EE", 4)
        let older = try FileManager.default.subpathsOfDirectory(atPath: old.path).filter {
            $0.hasPrefix("catalog.json")
        }
        #expect(older.count == 2)
        shop.trouble.withLock {
            $0 = { request, _ in
                guard request.path.hasPrefix("/catalog.json"),
                    let bytes = try? Data(contentsOf: old.appending(path: request.path))
                else { return nil }
                return .reply(200, body: [UInt8](bytes))
            }
        }
        let update = try await device.run("update")
        #expect(update.status == 0, "\(update.errors)")
        let own = try shop.address()
        #expect(update.errors.contains("'\(own)' has an older catalog"), "\(update.errors)")
        #expect(newest.wasAsked("catalog.json"))
        try await expectInstalled("EE", "packages/4/EE.mbtiles")
    }

    @Test func aListOfAnotherKeyIsPassedOver() async throws {
        let stranger = try mirror { path, _, _ in
            path == "catalog.json.sig" ? .reply(200, body: Array("{}".utf8)) : nil
        }
        let honest = try mirror()
        #expect(try await install("EE").status == 0)
        try shop.publish("EE", 2)
        shop.trouble.withLock { $0 = { request, _ in request.path.hasPrefix("/catalog") ? .reply(502) : nil } }
        let update = try await device.run("update")
        #expect(update.status == 0, "\(update.errors)")
        #expect(update.errors.contains("'\(stranger.url)' gave a catalog that is damaged or not signed"))
        #expect(honest.wasAsked("catalog.json"))
        try await expectInstalled("EE", "packages/2/EE.mbtiles")
    }

    /// Nothing proves what a mirror says: without keys only its files are used.
    @Test func anUnsignedStoreTakesNoListOfAMirror() async throws {
        let mirror = try mirror()
        let half = try published(file).count / 2
        own(file) { bytes, from in .raw(MirrorServer.half(bytes, from: from, until: half)) }
        let outcome = try await device.run("install", "EE", "--catalog", try shop.address())
        #expect(outcome.status == 0, "\(outcome.errors)")
        try await expectInstalled("EE", file)
        try shop.publish("EE", 2)
        shop.trouble.withLock { $0 = { _, _ in .reply(404) } }
        #expect(try await device.run("update").status != 0)
        #expect(!mirror.wasAsked("catalog.json"))
    }

    @Test func aKilledDeviceGoesOnAtTheMirror() async throws {
        let bytes = try published(file)
        let half = bytes.count / 2
        let mirror = try mirror()
        own(file) { bytes, from in .stall(MirrorServer.half(bytes, from: from, until: half)) }
        let process = try device.begin(
            "install", "EE", "--catalog", try shop.address(), "--public-key", try shop.key.publicKey.description)
        let parts = device.store.appending(path: "parts")
        try await Eventually.holds("half of the file") {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: parts.path)) ?? []
            return names.contains { (try? Data(contentsOf: parts.appending(path: $0)))?.count == half }
        }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(!mirror.wasAsked(file))
        shop.trouble.withLock { $0 = { _, _ in .raw([]) } }
        let outcome = try await device.run("run")
        #expect(outcome.status == 0, "\(outcome.errors)")
        try await expectInstalled("EE", file)
        #expect(mirror.asked.filter { $0.path == file }.map(\.range) == ["bytes=\(half)-"])
    }

    @Test func whatNoServerHasIsSaidAsBefore() async throws {
        let mirror = try mirror { path, _, _ in path.hasSuffix(".mbtiles") ? .reply(404) : nil }
        own(file) { _, _ in .reply(404) }
        let outcome = try await install("EE")
        #expect(outcome.status == 66 && outcome.errors.contains("the server does not have it"), "\(outcome.errors)")
        #expect(mirror.wasAsked(file))
        mirror.stop()
        own(file) { _, _ in nil }
        #expect(try await install("EE").status == 0)
        try await expectInstalled("EE", file)
    }
}
