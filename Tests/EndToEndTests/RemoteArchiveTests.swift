import Foundation
import TestSupport
import Testing

/// Packages that are cut out of a PMTiles archive on a web server.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct RemoteArchiveTests {
    /// An archive of Estonia at zooms 0 to 10, as bytes, and where it lies.
    private static func archive(in scratch: Scratch) async throws -> URL {
        let origin = try SyntheticOrigin(in: scratch)
        defer { origin.stop() }
        let file = scratch.url("planet.pmtiles")
        let outcome = try await Program.run(
            ["build", "EE", "--zoom", "0-10", "--tileset", origin.tileset, "-o", file.path], in: scratch)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return file
    }

    private static func build(_ tileset: String, _ file: URL, in scratch: Scratch) async throws -> Program.Outcome {
        try await Program.run(
            ["build", "EE", "--zoom", "0-9", "--tileset", tileset, "--workers", "2", "-o", file.path], in: scratch)
    }

    @Test func aPackageOfARemoteArchiveIsThatOfTheFileOnDisk() async throws {
        let scratch = try Scratch()
        let file = try await Self.archive(in: scratch)
        let server = try RangeServer(Array(try Data(contentsOf: file)))
        defer { server.stop() }
        for name in ["a.mbtiles", "a.pmtiles"] {
            let (here, there) = (scratch.url("here-\(name)"), scratch.url("there-\(name)"))
            for (tileset, output) in [("pmtiles:\(file.path)", here), (server.url, there)] {
                let outcome = try await Self.build(tileset, output, in: scratch)
                #expect(outcome.status == 0, "\(outcome.errors)")
            }
            #expect(try Data(contentsOf: here) == Data(contentsOf: there), "\(name)")
        }
    }

    @Test func anEstimateIsExact() async throws {
        let scratch = try Scratch()
        let file = try await Self.archive(in: scratch)
        let server = try RangeServer(Array(try Data(contentsOf: file)))
        defer { server.stop() }
        let outcome = try await Program.run(
            ["estimate", "EE", "--zoom", "0-9", "--tileset", server.url, "--json"], in: scratch)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        let sent = server.sent
        let package = scratch.url("e.mbtiles")
        #expect(try await Self.build(server.url, package, in: scratch).status == 0)
        let received = server.sent - sent
        let bytes = try #require(object["bytes"] as? Int)
        // What is received has the heads and directories too, and 5 % of gaps at most.
        #expect(object["margin"] as? Int == 0 && received >= bytes && received < bytes + bytes / 20 + 200_000)
    }

    /// Replaced at many moments: the package is of one version, or the job ends with the reason.
    @Test func aReplacedArchiveNeverGivesAMixture() async throws {
        let scratch = try Scratch()
        let file = try await Self.archive(in: scratch)
        let old = Array(try Data(contentsOf: file))
        // The same tiles in another archive: only the validator tells that it is another.
        let server = try RangeServer(old)
        defer { server.stop() }
        var refused = 0
        for moment in [1, 2, 3, 4, 6, 8, 12] {
            server.replace(with: old, afterRequests: moment)
            let output = scratch.url("replaced-\(moment).mbtiles")
            let outcome = try await Self.build(server.url, output, in: scratch)
            guard outcome.status != 0 else { continue }
            refused += 1
            #expect(outcome.errors.contains("source-changed"), "\(outcome.errors)")
            #expect(!FileManager.default.fileExists(atPath: output.path))
        }
        #expect(refused > 0, "no change met a running job")
    }

    @Test func aServerWithoutRangesIsRefusedBeforeAnythingIsBuilt() async throws {
        let scratch = try Scratch()
        var manner = RangeServer.Manner()
        manner.ignoresRange = true
        let server = try RangeServer([UInt8](repeating: 1, count: 100_000), manner)
        defer { server.stop() }
        let outcome = try await Self.build(server.url, scratch.url("x.mbtiles"), in: scratch)
        #expect(outcome.status != 0 && outcome.errors.contains("ranges"), "\(outcome.errors)")
        #expect(server.requests.count == 1)
    }
}
