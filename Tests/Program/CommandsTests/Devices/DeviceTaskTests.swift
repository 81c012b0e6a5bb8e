import CatalogFormat
import Foundation
import Packages
import TestSupport
import Testing

/// The queue, tile packs, styles and regions of `packhorse device`.
@Suite(.timeLimit(.minutes(15)))
struct DeviceTaskTests {
    @Test func aPausedTaskIsNotDoneAlsoInAnotherProcess() async throws {
        let shop = try Shop()
        let device = DeviceProgram(shop)
        try shop.publish("EE", 1)
        let queued = try await device.run("install", "EE", "--queue", "--catalog", try shop.address(), "--json")
        let tasks = try #require(try queued.json() as? [[String: Any]], "\(queued.errors)")
        let number = try #require(tasks.first?["task"] as? Int)
        #expect(try await device.run("pause", "\(number)").status == 0)
        let before = shop.asked().count
        let paused = try await device.run("run")
        #expect(paused.status == 75 && paused.errors.contains("resume \(number)"), "\(paused.errors)")
        #expect(shop.asked().count == before, "nothing is requested")
        #expect(try await device.run("resume", "\(number)").status == 0)
        let done = try await device.run("run")
        #expect(done.status == 0 && done.output.contains("install EE: done"), "\(done.errors)")
        #expect(try await device.files().keys.contains("EE"))
        #expect(try await device.run("cancel", "\(number)").status == 66)
    }

    @Test func regionsShareTheirPacksAndARemovalTakesItsOwn() async throws {
        let shop = try Shop()
        let device = DeviceProgram(shop)
        let first = try shop.publishCut("EE", 1)
        let second = try shop.publishCut("LV", 2)
        let names = { (paths: [String]) in Set(paths).map { String($0.dropFirst("packs/".count)) }.sorted() }
        let install = try await device.run(
            "install", "EE", "LV", "--tile-packs", "--catalog", try shop.address())
        #expect(install.status == 0, "\(install.errors)")
        // Packs that are complete have one place in the store. The lists have no date, so those of the smaller id stay.
        let place = { (path: String) in
            path.prefix { $0 != "." }.split(separator: "/").dropLast().joined(separator: "/")
        }
        let shared = Set(first.packs.filter(\.isComplete).map { place($0.path) })
        let rest = second.packs.filter { !$0.isComplete || !shared.contains(place($0.path)) }
        #expect(rest.count < second.packs.count)
        #expect(device.names("packs") == names((first.packs + rest).map(\.path)))
        #expect(try await device.run("remove", "EE").status == 0)
        let taken = first.packs.filter { pack in
            pack.isComplete && second.packs.contains { $0.isComplete && place($0.path) == place(pack.path) }
        }
        #expect(device.names("packs") == names((taken + rest).map(\.path)))
        #expect(Set(first.packs.map(\.path)) != Set(second.packs.map(\.path)))
        #expect(Array(try await device.files().keys) == ["LV"])
    }

    @Test func aRegionOfABoxHasItsPacks() async throws {
        let shop = try Shop()
        let device = DeviceProgram(shop)
        let list = try shop.publishCut("EE", 1)
        let address = try shop.address()
        let area = ["--box", "-10,45,-8,47", "--zoom", "0-6", "--tileset", list.tileset]
        let told = try await device.run(
            "estimate", area[0], area[1], area[2], area[3], area[4], area[5], "--catalog", address)
        #expect(told.status == 0 && told.output.contains("tile packs"), "\(told.errors)")
        let add = try await device.run(
            "region", "add", "trip", area[0], area[1], area[2], area[3], area[4], area[5], "--catalog", address)
        #expect(add.status == 0, "\(add.errors)")
        let shown = try await device.run("region", "show", "trip", "--json")
        let region = try #require(try shown.json() as? [String: Any], "\(shown.errors)")
        #expect(region["state"] as? String == "complete", "\(region)")
        #expect(!device.names("packs").isEmpty)
        #expect(try await device.run("region", "list").output.contains("trip"))
        #expect(try await device.run("region", "remove", "trip").status == 0)
        #expect(device.names("packs").isEmpty)
        #expect(try await device.run("region", "show", "trip").status == 66)
    }

    @Test func theQuotaPausesAndTheDamageIsFound() async throws {
        let shop = try Shop()
        let device = DeviceProgram(shop)
        try shop.publish("EE", 1)
        let address = try shop.address()
        #expect(try await device.run("install", "EE", "--queue", "--catalog", address).status == 0)
        #expect(try await device.run("quota", "--bytes", "10kB").status == 0)
        let full = try await device.run("run")
        #expect(full.status == 73 && full.errors.contains("quota"), "\(full.errors)")
        #expect(try await device.run("quota", "--bytes", "none").status == 0)
        let run = try await device.run("run")
        #expect(run.status == 0, "\(run.errors)")
        let file = try #require(try await device.files()["EE"])
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: file)
        let found = try await device.run("verify", "--deep")
        #expect(found.status == 65 && found.output.contains("EE"), "\(found.errors)")
        let mended = try await device.run("repair")
        #expect(mended.status == 0, "\(mended.errors)")
        #expect(try await device.run("run").status == 0)
        #expect(try await device.run("verify", "--deep").status == 0)
    }
}
