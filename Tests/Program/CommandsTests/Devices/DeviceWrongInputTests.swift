import Foundation
import TestSupport
import Testing
import Tiles

/// What users of `packhorse device` get wrong: one clear line, the documented exit code, nothing lost.
@Suite(.timeLimit(.minutes(15)))
struct DeviceWrongInputTests {
    private func check(
        _ device: DeviceProgram, _ arguments: [String], _ status: Int32, _ words: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let outcome = try await device.run(arguments)
        let lines = outcome.errors.split(separator: "\n")
        #expect(outcome.status == status, "\(arguments): \(outcome.errors)", sourceLocation: sourceLocation)
        #expect(outcome.output.isEmpty, "\(arguments): \(outcome.output)", sourceLocation: sourceLocation)
        #expect(
            lines.count { $0.hasPrefix("packhorse: error: ") } == 1 && lines.count <= 3
                && outcome.errors.localizedCaseInsensitiveContains(words), "\(arguments): \(outcome.errors)",
            sourceLocation: sourceLocation)
    }

    @Test func withoutAStoreNothingIsMade() async throws {
        let shop = try Shop()
        let device = DeviceProgram(shop)
        try shop.publish("EE", 1)
        let from = ["--catalog", try shop.address()]
        try Data("{".utf8).write(to: shop.file("file"))
        let cases: [(arguments: [String], status: Int32, words: String)] = [
            (["install", "EE"], 64, "--catalog"),
            (["install", "XX"] + from, 66, "no package 'XX'"),
            (["install", "EE", "--style", "none"] + from, 66, "no style 'none'"),
            (["install", "EE", "--format", "pmtiles"] + from, 66, "EE as pmtiles"),
            (["install", "EE", "--tile-packs"] + from, 66, "no tile packs of EE"),
            (["install", "EE", "EE"] + from, 64, "given twice"),
            (["install", "EE", "--rate", "fast"] + from, 64, "--rate"),
            (["install", "EE", "--public-key", "ed25519-public:zzz"] + from, 78, "key"),
            (["install", "EE", "--public-key", shop.file("none.pub").path] + from, 66, "none.pub"),
            (["install", "EE", "--store", shop.file("file").path] + from, 73, shop.file("file").path),
            (["list"], 64, "--catalog"),
            (["search", "--at", "north"] + from, 64, "24.75,59.44"),
            (["status"], 66, "is not a store"),
            (["run"], 66, "is not a store"),
            (["serve", "--port", "0"], 66, "is not a store"),
            (["adopt", shop.file("file").path], 65, shop.file("file").path),
            (["adopt", shop.file("none").path], 66, shop.file("none").path),
            (["region", "add", "trip", "--box", "24,59,23"], 64, "source"),
            (["region", "add", "trip", "--box", "24,59,23", "--tileset", "demo"] + from, 64, "box"),
            (["region", "add", "trip", "--box", "24,59,25,60", "--tiles", "http://h/tiles"], 64, "{z}"),
        ]
        for (arguments, status, words) in cases { try await check(device, arguments, status, words) }
        #expect(!FileManager.default.fileExists(atPath: device.store.path), "nothing is made")
    }

    @Test func aStoreStaysAsItIs() async throws {
        let shop = try Shop()
        let device = DeviceProgram(shop)
        try shop.publish("EE", 1)
        #expect(try await device.run("install", "EE", "--catalog", try shop.address()).status == 0)
        let before = try await device.run("list", "--installed", "--json").output
        let target = shop.file("taken.mbtiles")
        let adopted = shop.file("EE.mbtiles")
        #expect(try await device.run("export", "-o", adopted.path, "--zoom", "0-2").status == 0)
        try Data("mine".utf8).write(to: target)
        let cases: [(arguments: [String], status: Int32, words: String)] = [
            (["update", "LV"], 66, "'LV' is not installed"),
            (["remove", "LV"], 66, "'LV' is not installed"),
            (["rollback", "EE"], 66, "no earlier version"),
            (["pause", "7"], 66, "no task 7"),
            (["cancel"], 64, "--all"),
            (["resume", "1", "--priority", "-3"], 64, "--priority"),
            (["region", "show", "none"], 66, "no region 'none'"),
            (["region", "load", "none"], 66, "no region 'none'"),
            (["quota", "--bytes", "much"], 64, "2GB"),
            (["quota", "--previous", "9"], 64, "--previous"),
            (["export"], 64, "-o FILE"),
            (["export", "-o", shop.file("x.pmtiles").path], 64, "ends with .pmtiles"),
            (["adopt", adopted.path, "--id", "EE"], 73, "--replace"),
            (["adopt", adopted.path, "--move"], 73, "--replace"),
            (["export", "-o", target.path], 73, "--force"),
            (["export", "-o", shop.file("x.mbtiles").path, "--tileset", "none"], 66, "'none' is not installed"),
            (["export", "-o", shop.file("x.mbtiles").path, "--zoom", "9-12"], 66, "zooms"),
            (["export", "--files", shop.file("x").path, "--name", "../{z}{x}{y}"], 64, "--name"),
            (["export", "--files", shop.file("x").path, "--name", "../\u{301}{z}{x}{y}"], 64, "--name"),
            (["style", "demo", "--of", "EE"], 66, "demo"),
            (["update", "--catalog", "http://127.0.0.1:9/"], 69, "http://127.0.0.1:9/"),
            (["serve", "--port", "70000"], 64, "--port"),
        ]
        for (arguments, status, words) in cases { try await check(device, arguments, status, words) }
        #expect(try await device.run("list", "--installed", "--json").output == before)
        #expect(try Data(contentsOf: target) == Data("mine".utf8))
        for name in ["x.mbtiles", "x.pmtiles"] {
            #expect(!FileManager.default.fileExists(atPath: shop.file(name).path))
        }
        #expect(FileManager.default.fileExists(atPath: adopted.path))
        // The wrong catalog was not kept.
        #expect(try await device.run("update").status == 0)
    }

    @Test func anUpdateNeverReplacesAnAdoptedFile() async throws {
        let shop = try Shop()
        let device = DeviceProgram(shop)
        try shop.publish("EE", 1)
        #expect(try await device.run("install", "EE", "--catalog", try shop.address()).status == 0)
        let own = shop.file("own.mbtiles")
        #expect(try await device.run("export", "-o", own.path, "--zoom", "0-2").status == 0)
        let adopt = try await device.run("adopt", own.path, "--id", "EE", "--move", "--replace")
        #expect(adopt.status == 0 && !FileManager.default.fileExists(atPath: own.path), "\(adopt.errors)")
        let before = try await device.run("list", "--installed", "--json").output
        for version in [1, 2, 3] as [UInt64] {
            if version > 1 { try shop.publish("EE", version, changed: 1) }
            for arguments in [["update"], ["update", "EE", "--together"]] {
                let update = try await device.run(arguments)
                #expect(update.status == 0 && !update.output.contains("EE"), "\(update)")
            }
            #expect(try await device.run("verify", "--deep").status == 0)
        }
        #expect(before.contains("\"version\" : 2"), "\(before)")
        let export = try await device.run("export", "-o", own.path, "--json")
        let view = try #require(try export.json() as? [String: Any], "\(export.errors)")
        #expect(view["tiles"] as? Int == Int(Shop.mask.count(in: try ZoomRange(parsing: "0-2"))))
    }
}
