import Catalog
import CatalogFormat
import Foundation
import Synchronization
import TestSupport
import Testing

/// `packhorse device` on stores with leftovers, stopped tasks and strange regions.
@Suite(.timeLimit(.minutes(15)))
struct DeviceLeftoverTests {
    @Test(.enabled(if: LockedFile.isPossible, "no file can be locked here"))
    func everyCommandWorksWhenAPackCannotBeRemoved() async throws {
        let shop = try Shop()
        let device = DeviceProgram(shop)
        try shop.publish("EE", 1)
        #expect(try await device.run("install", "EE", "--catalog", try shop.address()).status == 0)
        let home = try #require(try await device.files()["EE"]).deletingLastPathComponent()
        let strays = [
            device.store.appending(path: "packs/demo/0/0/0/0123456789abcdef.mbtiles"),
            home.deletingLastPathComponent().appending(path: "9-00000000.new/x"),
        ]
        for stray in strays {
            try FileManager.default.createDirectory(
                at: stray.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("x".utf8).write(to: stray)
        }
        let locked = strays.map(LockedFile.init)
        for words in [
            ["status"], ["verify", "--deep"], ["repair"], ["tasks"], ["region", "list"], ["quota"],
            ["list", "--installed"],
            ["update"], ["run"],
        ] {
            let outcome = try await device.run(words)
            #expect(outcome.status == 0, "\(words): \(outcome.errors)")
            for name in ["0123456789abcdef.mbtiles", "9-00000000.new"] {
                #expect(outcome.errors.contains(name), "\(words): \(outcome.errors)")
            }
        }
        for file in locked { file.unlock() }
        let after = try await device.run("status")
        #expect(after.status == 0 && after.errors.isEmpty, "\(after.errors)")
        for stray in strays { #expect(!FileManager.default.fileExists(atPath: stray.path)) }
    }

    /// Sends so many bytes of packages, and then nothing.
    private func stall(_ shop: Shop, after limit: Int) {
        shop.trouble.withLock { trouble in
            trouble = { request, bytes in
                guard request.path.contains("packages/"), request.headers["range"] == nil else { return nil }
                let head = "HTTP/1.1 200 OK\r\nContent-Length: \(bytes.count)\r\n\r\n"
                return .stall(Array(head.utf8) + bytes.prefix(limit))
            }
        }
    }

    @Test func aStoppedDownloadIsListedAsItIsAndACancelledOneLeavesNothing() async throws {
        let shop = try Shop()
        let device = DeviceProgram(shop)
        try shop.publish("EE", 1)
        let size = try Data(contentsOf: shop.file("catalog/packages/1/EE.mbtiles")).count
        stall(shop, after: size / 2)
        let address = try shop.address()
        let process = try device.begin("install", "EE", "--catalog", address)
        try await Eventually.holds("half of the file") {
            device.names("parts").contains { name in
                let path = device.store.appending(path: "parts/\(name)").path
                return (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) == size / 2
            }
        }
        process.interrupt()
        process.waitUntilExit()
        let listed = try await device.run("tasks", "--json")
        let task = try #require((try listed.json() as? [[String: Any]])?.first, "\(listed.errors)")
        let fraction = try #require(task["fraction"] as? Double)
        #expect((0.49...0.51).contains(fraction) && task["transferred"] as? Int == size / 2, "\(task)")
        let number = try #require(task["task"] as? Int)
        let table = try await device.run("tasks")
        #expect(table.output.contains("49 %") || table.output.contains("50 %"), "\(table.output)")
        #expect(try await device.run("cancel", "\(number)").status == 0)
        #expect(device.names("parts").isEmpty)
        let status = try await device.run("status")
        #expect(!status.output.contains("downloads"), "\(status.output)")
    }

    @Test func aQueuedInstallationAsksForTheCatalogOnly() async throws {
        let shop = try Shop()
        let device = DeviceProgram(shop)
        try shop.publish("EE", 1)
        try shop.publish("LV", 1)
        let address = try shop.address()
        for words in [
            ["install", "EE", "--queue", "--catalog", address], ["install", "LV", "--queue"],
            ["list", "--catalog", address], ["search", "EE"], ["estimate", "EE"],
        ] {
            let outcome = try await device.run(words)
            #expect(outcome.status == 0, "\(words): \(outcome.errors)")
            #expect(shop.asked().allSatisfy { $0.path.hasPrefix("catalog.json") }, "\(words)")
        }
        #expect(device.names("parts").isEmpty && device.names("units").isEmpty)
        let run = try await device.run("run")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try await device.files().keys.sorted() == ["EE", "LV"])
    }

    @Test func aRegionIsReplacedOnlyWhenAsked() async throws {
        let server = try ScriptedServer { request in
            request.path.hasPrefix("/t/") ? .reply(200, body: [0x1F, 0x8B, 8] + Array(request.path.utf8)) : .reply(404)
        }
        defer { server.stop() }
        let shop = try Shop()
        let device = DeviceProgram(shop)
        defer { withExtendedLifetime(shop) {} }
        let template = server.url + "/t/{z}/{x}/{y}.pbf"
        let first = ["--box", "10,50,10.1,50.1", "--zoom", "8-9", "--tiles", template]
        let second = ["--box", "20,50,20.1,50.1", "--zoom", "8-9", "--tiles", template]
        #expect(try await device.run(["region", "add", "trip"] + first).status == 0)
        let files = device.names("packs")
        let refused = try await device.run(["region", "add", "trip"] + second)
        #expect(refused.status == 73 && refused.errors.contains("--replace"), "\(refused.errors)")
        #expect(device.names("packs") == files)
        // The same region once more is no other.
        #expect(try await device.run(["region", "add", "trip"] + first).status == 0)
        let replaced = try await device.run(["region", "add", "trip", "--replace"] + second)
        #expect(replaced.status == 0, "\(replaced.errors)")
        #expect(Set(device.names("packs")).isDisjoint(with: files) && device.names("packs").count == 1)
    }

    @Test func aRegionOfWhichTheServerHasNothingEndsWithAWord() async throws {
        let server = try ScriptedServer { request in
            request.path.contains("/9/") ? .reply(410) : .reply(404)
        }
        defer { server.stop() }
        let shop = try Shop()
        let device = DeviceProgram(shop)
        defer { withExtendedLifetime(shop) {} }
        let area = ["--box", "10,50,10.1,50.1", "--zoom", "8-9", "--tiles", server.url + "/t/{z}/{x}/{y}.pbf"]
        let add = try await device.run(["region", "add", "trip"] + area)
        #expect(add.status == 0, "\(add.errors)")
        #expect(add.errors.contains("'trip' is empty"), "\(add.errors)")
        #expect(add.errors.contains("answered with 404") && add.errors.contains("answered with 410"), "\(add.errors)")
        let shown = try await device.run("region", "show", "trip")
        #expect(shown.output.contains("answered with 404"), "\(shown.output)")
        // Also when another command downloads it.
        #expect(try await device.run(["region", "add", "two", "--queue"] + area).status == 0)
        let run = try await device.run("run")
        #expect(run.status == 0 && run.errors.contains("'two' is empty"), "\(run.errors)")
    }
}
