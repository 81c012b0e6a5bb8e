import Foundation
import Synchronization
import TestSupport
import Testing

/// `latest`: real processes, and a server whose builds come and go.
@Suite(.serialized, .timeLimit(.programs))
struct LatestTests {
    private static func write(_ text: String, _ scratch: Scratch) throws -> String {
        let file = scratch.url("latest.yaml")
        try Data(text.utf8).write(to: file)
        return file.path
    }

    private static func index(_ server: BuildServer, _ names: [String]) {
        server.put("/builds.json", "[" + names.map { #"{"key":"\#($0).pmtiles"}"# }.joined(separator: ",") + "]")
    }

    /// A server with one build, and the tileset file that follows it.
    private static func archives(_ scratch: Scratch) throws -> (BuildServer, String) {
        let server = try BuildServer()
        server.put("/20261123.pmtiles", SampleArchive.bytes(layer: "old", zoom: 9))
        index(server, ["20261123"])
        let tileset = try write(
            "id: planet\nlatest:\n  index: \(server.url)/builds.json\n  url: \(server.url)/{build}\n", scratch)
        return (server, tileset)
    }

    /// The layers that the tiles of a package have.
    private static func layers(_ file: URL, _ scratch: Scratch) async throws -> String {
        try await SQLiteShell.run(file, "SELECT value FROM metadata WHERE name = 'json'", in: scratch)
    }

    @Test func theNewestBuildIsTakenAndShown() async throws {
        let scratch = try Scratch()
        let (server, tileset) = try Self.archives(scratch)
        defer { server.stop() }
        let estimate = try await Program.run(
            ["estimate", "EE", "--zoom", "0-6", "--tileset", tileset, "--json"], in: scratch)
        #expect(estimate.status == 0, "\(estimate.errors)")
        let reference = try JSONReference()
        try reference.read(estimate.output, as: "estimate")
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(estimate.output.utf8)) as? [String: Any])
        let source = try #require(object["source"] as? [String: Any])
        #expect(source["build"] as? String == "20261123" && source["data_date"] as? String == "2026-11-23")
        #expect(estimate.errors.contains("newest build: 20261123, data of 2026-11-23"), "\(estimate.errors)")
        let cluster = try await Cluster(workers: 1, in: scratch)
        let arguments = ["EE", "--zoom", "0-6", "--tileset", tileset]
        let first = try await cluster.build(arguments)
        #expect(first.packages.map(\.version) == [1])
        try reference.read(try await cluster.run(["status", "\(first.job)", "--json"]).output, as: "job")
        let status = try await cluster.run(["status", "\(first.job)"]).output
        #expect(status.contains("build    20261123, data of 2026-11-23, \(server.url)/20261123.pmtiles"), "\(status)")
        // A new build under another address: the same tileset, so the package is replaced, and equal tiles keep its version.
        server.put("/20261124.pmtiles", SampleArchive.bytes(layer: "old", zoom: 9))
        Self.index(server, ["20261123", "20261124"])
        let second = try await cluster.build(arguments)
        #expect(second.packages.map(\.state) == ["unchanged"])
        server.put("/20261125.pmtiles", SampleArchive.bytes(layer: "new", zoom: 9))
        Self.index(server, ["20261125"])
        // Its only layer has another name.
        let third = try await cluster.build(arguments + ["--allow-shrink"])
        #expect(third.packages.map(\.version) == [2])
        let catalog = try String(contentsOf: cluster.catalog.appending(path: "catalog.json"), encoding: .utf8)
        #expect(catalog.contains("20261125") && catalog.contains("2026-11-25"), "\(catalog)")
        try await cluster.stop()
    }

    @Test(.enabled(if: SQLiteShell.isThere)) func aBuildThatIsRemovedEndsTheJobAndTheNewestIsTaken() async throws {
        let scratch = try Scratch()
        let (server, tileset) = try Self.archives(scratch)
        defer { server.stop() }
        let output = scratch.url("ee.mbtiles")
        let build = ["build", "EE", "--zoom", "0-9", "--tileset", tileset, "--workers", "1", "-o", output.path]
        let replace: @Sendable (BuildServer) -> Void = {
            $0.remove("/20261123.pmtiles")
            $0.put("/20261130.pmtiles", SampleArchive.bytes(layer: "new", zoom: 9))
            Self.index($0, ["20261130"])
        }
        // The command reads the head; what follows is of the job.
        server.after(1, requestsFor: "/20261123.pmtiles", replace)
        let ended = try await Program.run(build, in: scratch)
        #expect(ended.status != 0 && ended.errors.contains("source-changed"), "\(ended.errors)")
        #expect(ended.errors.contains("the build was removed from its server"), "\(ended.errors)")
        #expect(!FileManager.default.fileExists(atPath: output.path))
        server.put("/20261123.pmtiles", SampleArchive.bytes(layer: "old", zoom: 9))
        server.remove("/20261130.pmtiles")
        Self.index(server, ["20261123"])
        server.after(2, requestsFor: "/20261123.pmtiles", replace)
        let again = try await Program.run(build + ["--restart", "--restart-on-change"], in: scratch)
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.errors.contains("starting over with the new one"), "\(again.errors)")
        let layers = try await Self.layers(output, scratch)
        #expect(layers.contains("new") && !layers.contains("\"old\""), "\(layers)")
    }

    /// Two machines behind one address: one of them has the new document, the other one not yet.
    @Test func aDocumentThatNamesTwoBuildsInTurnsIsAChangedSource() async throws {
        let scratch = try Scratch()
        let server = try BuildServer()
        defer { server.stop() }
        let url = server.url
        let asked = Mutex(0)
        server.answerElse { path in
            guard path == "/planet" else { return path.hasPrefix("/planet/") ? SampleArchive.tile(layer: "a") : nil }
            let number = asked.withLock { asked in
                asked += 1
                return asked
            }
            let version = number > 2 && number % 2 == 1 ? "20261125_001001_pt" : "20261118_001001_pt"
            let text = #"{"tiles":["\#(url)/planet/\#(version)/{z}/{x}/{y}.pbf"],"minzoom":0,"maxzoom":9}"#
            return Array(text.utf8)
        }
        let tileset = try Self.write("id: planet\nlatest: \(url)/planet\nformat: pbf\n", scratch)
        let output = scratch.url("ee.mbtiles")
        let ended = try await Program.run(
            ["build", "EE", "--zoom", "0-9", "--tileset", tileset, "--workers", "1", "-o", output.path], in: scratch)
        #expect(ended.status != 0 && ended.errors.contains("source-changed"), "\(ended.errors)")
        #expect(!ended.errors.contains("origin-unsupported"), "\(ended.errors)")
        #expect(!FileManager.default.fileExists(atPath: output.path))
    }

    /// A server as OpenFreeMap: a version that was removed is answered with the newest tiles.
    @Test(.enabled(if: SQLiteShell.isThere)) func tilesOfTwoBuildsOfAServerAreNeverMixed() async throws {
        let scratch = try Scratch()
        let server = try BuildServer()
        defer { server.stop() }
        let newest = Layer()
        server.answerElse { $0.hasPrefix("/planet/") ? SampleArchive.tile(layer: newest.name) : nil }
        let name: @Sendable (BuildServer, String) -> Void = { server, version in
            server.put(
                "/planet",
                #"{"tiles":["\#(server.url)/planet/\#(version)/{z}/{x}/{y}.pbf"],"minzoom":0,"maxzoom":9}"#)
        }
        name(server, "20261118_001001_pt")
        let tileset = try Self.write(
            "id: planet\nlatest: \(server.url)/planet\nformat: pbf\npoliteness: {concurrency: 1}\n", scratch)
        let output = scratch.url("ee.mbtiles")
        let build = ["build", "EE", "--zoom", "0-9", "--tileset", tileset, "--workers", "1", "-o", output.path]
        server.after(20, requestsFor: "/planet/") { server in
            newest.name = "new"
            name(server, "20261125_001001_pt")
        }
        let ended = try await Program.run(build, in: scratch)
        #expect(ended.status != 0 && ended.errors.contains("source-changed"), "\(ended.errors)")
        #expect(ended.errors.contains("names another build of its tiles"), "\(ended.errors)")
        #expect(!FileManager.default.fileExists(atPath: output.path))
        newest.name = "old"
        name(server, "20261118_001001_pt")
        server.after(20, requestsFor: "/planet/") { server in
            newest.name = "new"
            name(server, "20261125_001001_pt")
        }
        let again = try await Program.run(build + ["--restart", "--restart-on-change"], in: scratch)
        #expect(again.status == 0, "\(again.errors)")
        let layers = try await Self.layers(output, scratch)
        #expect(layers.contains("new") && !layers.contains("\"old\""), "\(layers)")
    }

    @Test func tilesThatWereKeptServeTheNextBuild() async throws {
        let scratch = try Scratch()
        let server = try BuildServer()
        defer { server.stop() }
        // The same tiles, with the same validators, under the address of each build.
        server.answerElse { $0.hasPrefix("/planet/") ? SampleArchive.tile(layer: "same") : nil }
        let name = { (version: String) in
            server.put(
                "/planet",
                #"{"tiles":["\#(server.url)/planet/\#(version)/{z}/{x}/{y}.pbf"],"minzoom":0,"maxzoom":9}"#)
        }
        name("20261118_001001_pt")
        let tileset = try Self.write("id: planet\nlatest: \(server.url)/planet\nformat: pbf\n", scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let arguments = ["EE", "--zoom", "0-8", "--tileset", tileset]
        let first = try await cluster.build(arguments)
        #expect(first.notModified == 0 && first.stored > 0)
        // The same build: the server confirms its tiles.
        let same = try await cluster.build(arguments)
        #expect(same.notModified == same.stored && same.stored == first.stored)
        #expect(same.packages.map(\.state) == ["unchanged"])
        // Another one: an ETag says nothing at its address, so bodies are compared.
        name("20261125_001001_pt")
        let second = try await cluster.build(arguments)
        #expect(second.notModified == 0 && second.stored == first.stored)
        #expect(second.packages.map(\.state) == ["unchanged"])
        let asked = server.requests.filter { $0.path.hasPrefix("/planet/20261125_001001_pt/") }
        #expect(asked.count >= second.stored && asked.allSatisfy { $0.headers["if-none-match"] == nil })
        try await cluster.stop()
    }

    /// The layer of the tiles that a server has now.
    private final class Layer: Sendable {
        private let state = Mutex("old")
        var name: String {
            get { state.withLock(\.self) }
            set { state.withLock { $0 = newValue } }
        }
    }

    @Test func aScheduleFollowsTheNewestBuildByHandToo() async throws {
        let scratch = try Scratch()
        let (server, tileset) = try Self.archives(scratch)
        defer { server.stop() }
        let metrics = try Ports.endpoint()
        let address = String(metrics.dropFirst("tcp://".count))
        let cluster = try await Cluster(workers: 1, coordinatorArguments: ["--metrics", address], in: scratch)
        let added = try await cluster.run([
            "schedule", "add", "monthly", "--every", "monthly 3 02:30", "EE", "--zoom", "0-6", "--tileset", tileset,
        ])
        #expect(added.status == 0, "\(added.errors)")
        server.put("/20261124.pmtiles", SampleArchive.bytes(layer: "new", zoom: 9))
        Self.index(server, ["20261123", "20261124"])
        let run = try await cluster.run(["schedule", "run", "monthly"])
        #expect(run.status == 0, "\(run.errors)")
        _ = try await cluster.run(["watch", run.output.trimmingCharacters(in: .whitespacesAndNewlines)])
        let listed = try await cluster.run(["schedule", "list", "--json"])
        #expect(listed.output.contains("20261124"), "\(listed.output)")
        try JSONReference().read(listed.output, as: "schedule")
        let port = try #require(Int(address.split(separator: ":").last ?? ""))
        let midnight = try Date("2026-11-24", strategy: .iso8601.year().month().day())
        try await Eventually.holds("the age of the data is shown") {
            let page = try await MetricsPage(RawHTTPClient.get("/metrics", from: .port(port)).text)
            let age = Date.now.timeIntervalSince(midnight)
            return page.value("schedule_data_age_seconds_max").map { abs($0 - age) < 60 } ?? false
        }
        try await cluster.stop()
    }
}
