import Foundation
import TestSupport
import Testing

/// Sources that refuse: the job ends after few requests and says what was answered.
@Suite(.serialized, .timeLimit(.programs))
struct RefusingSourceTests {
    /// The world at zooms 0 to 4, 341 tiles, in a PMTiles file.
    private static func archive(in scratch: Scratch) async throws -> [UInt8] {
        let origin = try SyntheticOrigin(in: scratch)
        defer { origin.stop() }
        let file = scratch.url("world.pmtiles")
        let outcome = try await Program.run(
            ["build", "bbox(-180,-85,180,85)", "--zoom", "0-4", "--tileset", origin.tileset, "-o", file.path],
            in: scratch)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return Array(try Data(contentsOf: file))
    }

    /// An address that expires, an archive that is deleted, a file that became shorter.
    @Test func anArchiveThatBeginsToRefuseCostsFewRequests() async throws {
        let scratch = try Scratch()
        let archive = try await Self.archive(in: scratch)
        for (status, after) in [(401, 2), (403, 2), (404, 1), (410, 1), (416, 2)] {
            let server = try RangeServer(archive)
            defer { server.stop() }
            server.refuse(with: status, afterRequests: after)
            let start = ContinuousClock.now
            let outcome = try await Program.run(
                [
                    "build", "bbox(-180,-85,180,85)", "--zoom", "0-4", "--tileset", server.url, "--workers", "2", "-o",
                    scratch.url("\(status).mbtiles").path,
                ], in: scratch)
            #expect(outcome.status == 65, "\(outcome.errors)")
            #expect(outcome.errors.contains("origin-refused"), "\(outcome.errors)")
            #expect(outcome.errors.contains("answered \(status)"), "\(outcome.errors)")
            #expect(server.requests.count <= after + 16, "\(status): \(server.requests.count) requests")
            #expect(.now - start < .seconds(45))
        }
    }

    @Test(arguments: [(403, "text/html"), (401, "application/json"), (418, "text/plain"), (200, "text/html")])
    func aServerThatRefusesEverythingCostsSomeFiftyRequests(_ status: Int, _ type: String) async throws {
        let scratch = try Scratch()
        let server = try ScriptedServer { _ in
            .reply(status, headers: [("Content-Type", type)], body: Array("<!DOCTYPE html><p>Sign in".utf8))
        }
        defer { server.stop() }
        let outcome = try await Program.run(
            [
                "build", "EE", "--zoom", "0-11", "--tileset", "\(server.url)/{z}/{x}/{y}.pbf", "--workers", "2", "-o",
                scratch.url("none.mbtiles").path,
            ], in: scratch)
        #expect(outcome.status == 65, "\(outcome.errors)")
        for word in ["all-refused", "\(status) (\(type))"] {
            #expect(outcome.errors.contains(word), "\(word): \(outcome.errors)")
        }
        // Some 50 to 80; what is under way at two busy workers comes on top.
        #expect(server.requests.count <= 150, "\(server.requests.count) requests")
    }

    /// A bucket answers 403 for every tile of the sea: with the key they are empty, as those with 404 are.
    @Test func tilesThatABucketRefusesAreEmptyWithTheKey() async throws {
        let scratch = try Scratch()
        var files: [Data] = []
        for (status, key) in [(404, ""), (403, "empty_statuses: [403]\n")] {
            let server = try ScriptedServer { request in
                let isSea = (request.path.utf8.reduce(0) { $0 &+ Int($1) }).isMultiple(of: 3)
                if isSea { return .reply(status) }
                let feature: [UInt8] = [0x1A, 0x07, 0x0A, 0x01, 0x61, 0x78, 0x02, 0x28, 0x40]
                return .reply(200, body: feature)
            }
            defer { server.stop() }
            let file = scratch.url("sea-\(status).yaml")
            try Data("id: sea\nurl: \(server.url)/{z}/{x}/{y}.pbf\nzoom: 0-14\n\(key)".utf8).write(to: file)
            let output = scratch.url("sea-\(status).mbtiles")
            let outcome = try await Program.run(
                ["build", "EE", "--zoom", "0-9", "--tileset", file.path, "-o", output.path], in: scratch)
            #expect(outcome.status == 0, "\(outcome.errors)")
            files.append(try Data(contentsOf: output))
        }
        #expect(files[0] == files[1])
    }
}
