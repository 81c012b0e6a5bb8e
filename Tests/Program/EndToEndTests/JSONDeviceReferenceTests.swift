import Foundation
import TestSupport
import Testing

/// What `packhorse device` prints with `--json` has the keys that docs/reference/json.md names, and no others.
@Suite(.serialized, .timeLimit(.programs))
struct JSONDeviceReferenceTests {
    /// The documents of the commands.
    static let documents = [
        "attached-file", "listed-package", "item", "catalog", "offer", "installed-item", "download", "change", "task",
        "store", "usage", "own-region",
        "exported-tiles", "finding", "share", "store-event",
    ]

    @Test func devicesPrintWhatTheReferenceSays() async throws {
        let scratch = try Scratch()
        let reader = JSONReader(reference: try JSONReference(), scratch: scratch)
        let demo = try await DemoOrigin(in: scratch)
        let catalog = scratch.url("catalog")
        try await publish(reader, demo, catalog)
        let store = ["--store", scratch.url("store").path]
        try await maps(reader, catalog, store)
        try await regions(reader, demo, store)
        try await files(reader, scratch.url("old.mbtiles").path)
        try await events(reader, catalog, store)
        // The style of a region can have notes; the demo world sends no time of expiry. Damaged maps are those of DeviceDamageTests.
        reader.expectAll(
            Self.documents.filter { $0 != "store-event" },
            but: ["missing.cause", "expires", "companion_bytes", "is_damaged"])
    }

    /// A catalog with a base map, a data group in a language, and a style.
    private func publish(_ reader: JSONReader, _ demo: DemoOrigin, _ catalog: URL) async throws {
        let scratch = reader.scratch
        try FileManager.default.createDirectory(at: catalog, withIntermediateDirectories: true)
        try Data(#"{"packages":[]}"#.utf8).write(to: catalog.appending(path: "packages.json"))
        for (name, zooms) in [("old", "0-6"), ("new", "0-7")] {
            try await reader.run(
                nil,
                [
                    "build", "LI", "--tileset", demo.tileset, "--zoom", zooms, "-o",
                    scratch.url("\(name).mbtiles").path,
                    "--progress", "none",
                ])
        }
        try await reader.run(nil, ["style-pack", "\(demo.url)/style.json", "-o", scratch.url("style").path])
        let old = [catalog.path, scratch.url("old.mbtiles").path, "--id", "LI", "--tileset", "demo"]
        try await reader.run(nil, ["catalog", "import"] + old + ["--data-date", "2026-10-01"])
        try await reader.run(nil, ["catalog", "import"] + old + ["--group", "terrain", "--language", "de"])
        let graph = scratch.url("LI.vtiles")
        try Data("graph".utf8).write(to: graph)
        try await reader.run(
            "attached-file",
            [
                "catalog", "attach", catalog.path, "LI", graph.path, "--kind", "routing.valhalla", "--engine", "3.6",
                "--data-date", "2026-10-01",
            ])
        try await reader.run("listed-package", ["catalog", "list", catalog.path])
        try await reader.run(nil, ["catalog", "style", catalog.path, scratch.url("style").path, "--id", "demo"])
    }

    private func maps(_ reader: JSONReader, _ catalog: URL, _ store: [String]) async throws {
        let from = ["--catalog", catalog.path]
        let all = ["LI", "--group", "terrain", "--language", "de", "--style", "demo"]
        try await reader.run("download", ["device", "estimate"] + all + from)
        try await reader.run("download", ["device", "install", "--dry-run"] + all + from + store)
        try await reader.run("task", ["device", "install"] + all + from + store)
        try await reader.run("task", ["device", "install", "LI", "--with", "routing"] + from + store)
        try await reader.run("catalog", ["device", "list"] + store)
        try await reader.run("offer", ["device", "search", "liecht"] + store)
        try await reader.run("installed-item", ["device", "list", "--installed"] + store)
        try await reader.run("share", ["device", "share", reader.scratch.url("usb").path] + store)
        try await reader.run("usage", ["device", "quota", "--bytes", "2GB", "--previous", "1"] + store)
        try await reader.run(
            nil,
            [
                "catalog", "import", catalog.path, reader.scratch.url("new.mbtiles").path, "--id", "LI", "--tileset",
                "demo", "--replace-area", "--data-date", "2026-11-01",
            ])
        try await reader.run("change", ["device", "update", "--dry-run"] + store)
        try await reader.run("task", ["device", "update"] + store)
        try await reader.run("installed-item", ["device", "remove", "LI", "--dry-run"] + store)
        // A task of an item that is installed waits for a process that works.
        try await reader.run("task", ["device", "rollback", "LI", "--queue"] + store)
        try await reader.run("task", ["device", "remove", "--style", "demo", "--queue"] + store)
        try await reader.run("store", ["device", "status"] + store)
        try await reader.run("task", ["device", "tasks"] + store)
        try await reader.run(nil, ["device", "cancel", "--all"] + store)
    }

    private func regions(_ reader: JSONReader, _ demo: DemoOrigin, _ store: [String]) async throws {
        let box = ["--box", "9.4,47,9.7,47.3", "--zoom", "0-6", "--tiles"]
        try await reader.run(
            "task", ["device", "region", "add", "far"] + box + ["http://127.0.0.1:9/{z}/{x}/{y}.pbf"] + store,
            status: 69)
        try await reader.run("own-region", ["device", "region", "show", "far"] + store)
        try await reader.run(
            "task", ["device", "region", "add", "near"] + box + ["\(demo.url)/tiles/{z}/{x}/{y}.pbf"] + store)
        try await reader.run(
            nil, ["device", "region", "add", "later", "--only"] + box + ["http://127.0.0.1:9/{z}/{x}/{y}"] + store)
        try await reader.run("own-region", ["device", "region", "list"] + store)
    }

    /// A store of one adopted file, which is then damaged.
    private func files(_ reader: JSONReader, _ map: String) async throws {
        let store = ["--store", reader.scratch.url("adopting").path]
        try await reader.run("item", ["device", "adopt", map, "--id", "mine"] + store)
        try await reader.run(
            "exported-tiles", ["device", "export", "--files", reader.scratch.url("tiles").path] + store)
        let listed = try await reader.run("installed-item", ["device", "list", "--installed"] + store)
        let rows = try JSONSerialization.jsonObject(with: Data(listed.utf8)) as? [[String: Any]]
        let file = try #require(rows?.first?["file"] as? String)
        var bytes = try Data(contentsOf: URL(filePath: file))
        bytes[bytes.count / 2] ^= 4
        try bytes.write(to: URL(filePath: file))
        try await reader.run("finding", ["device", "verify", "--deep"] + store, status: 65)
    }

    private func events(_ reader: JSONReader, _ catalog: URL, _ store: [String]) async throws {
        let watch = try Daemon(["device", "watch", "--json"] + store, in: reader.scratch)
        func printed() -> [String] {
            (try? String(contentsOf: watch.output, encoding: .utf8))?.split(separator: "\n").map(String.init) ?? []
        }
        let index = catalog.appending(path: "catalog.json")
        let bytes = try Data(contentsOf: index)
        // Only the process that has the lock reports tasks and the catalog. A command may have it before the watching process does.
        try await Eventually.holds("the process that watches does the work", every: .milliseconds(300)) {
            try await reader.run(nil, ["device", "install", "LI"] + store)
            try FileManager.default.removeItem(at: index)
            try await reader.run(nil, ["device", "list"] + store, status: 66)
            try bytes.write(to: index)
            try await reader.run(nil, ["device", "remove", "LI"] + store)
            return ["installed", "removed", "task", "catalog-failed"].allSatisfy { name in
                printed().contains { $0.contains(#""event":"\#(name)""#) }
            }
        }
        try await watch.stop()
        for line in printed() { try reader.reference.read(line, as: "store-event") }
        // Nothing is removed for the quota here.
        reader.expectAll(["store-event"], but: ["bytes"])
    }
}
