import Foundation
import TestSupport
import Testing

/// Packages that are cut out of a PMTiles archive on a web server.
@Suite(.serialized, .timeLimit(.programs))
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

    /// More tiles than a job without a plan has: few requests, whatever the number of workers, and the package of the file on disk.
    @Test func rangesArePlannedOnceForAllWorkers() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let file = scratch.url("planet.pmtiles")
        let made = try await Program.run(
            ["build", "EE", "--zoom", "0-12", "--tileset", origin.tileset, "-o", file.path], in: scratch)
        #expect(made.status == 0, "\(made.errors)")
        let server = try RangeServer(Array(try Data(contentsOf: file)))
        defer { server.stop() }
        let (here, there) = (scratch.url("here.mbtiles"), scratch.url("there.mbtiles"))
        for (tileset, output, workers) in [("pmtiles:\(file.path)", here, "1"), (server.url, there, "3")] {
            let outcome = try await Program.run(
                ["build", "EE", "--zoom", "0-12", "--tileset", tileset, "--workers", workers, "-o", output.path],
                in: scratch)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        #expect(try Data(contentsOf: here) == Data(contentsOf: there))
        // Heads of the command and of three workers; all tiles lie together.
        #expect(server.requests.count <= 12, "\(server.requests.count) requests")
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

    @Test func inspectAndConvertTakeAddresses() async throws {
        let scratch = try Scratch()
        let file = try await Self.archive(in: scratch)
        let server = try RangeServer(Array(try Data(contentsOf: file)))
        defer { server.stop() }
        let shown = try await Program.run(["inspect", server.url, "--json"], in: scratch)
        #expect(shown.status == 0, "\(shown.errors)")
        let facts = try #require(try JSONSerialization.jsonObject(with: Data(shown.output.utf8)) as? [String: Any])
        #expect(
            facts["format"] as? String == "pbf" && facts["zoom_max"] as? Int == 10 && facts["tiles"] as? Int ?? 0 > 0)
        let copies = [("here.mbtiles", file.path), ("there.mbtiles", server.url)]
        for (name, input) in copies {
            let outcome = try await Program.run(["convert", input, "-o", scratch.url(name).path], in: scratch)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        #expect(try Data(contentsOf: scratch.url("here.mbtiles")) == Data(contentsOf: scratch.url("there.mbtiles")))
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
        #expect(!left.contains { $0.hasPrefix(".packhorse") }, "\(left)")
    }

    @Test func onlyChosenLayersAreInThePackage() async throws {
        let scratch = try Scratch()
        let file = try await Self.archive(in: scratch)
        let server = try RangeServer(Array(try Data(contentsOf: file)))
        defer { server.stop() }
        let shown = try await Program.run(["inspect", file.path, "--json"], in: scratch)
        #expect(shown.status == 0)
        var files: [Data] = []
        for (name, source) in [("a", "pmtiles:\(file.path)"), ("b", server.url)] {
            let tileset = scratch.url("\(name).yaml")
            try "id: t\nurl: \(source)\nlayers: [nothing]\n".write(to: tileset, atomically: true, encoding: .utf8)
            let refused = try await Self.build(tileset.path, scratch.url("\(name).mbtiles"), in: scratch)
            #expect(
                refused.status != 0 && refused.errors.contains("has no layer 'nothing'; it has"), "\(refused.errors)")
            let layer = try #require(refused.errors.firstMatch(of: /it has ([^,\s]+)/)?.1)
            try "id: t\nurl: \(source)\nlayers: \(layer)\n".write(to: tileset, atomically: true, encoding: .utf8)
            let output = scratch.url("\(name).mbtiles")
            let outcome = try await Self.build(tileset.path, output, in: scratch)
            #expect(outcome.status == 0, "\(outcome.errors)")
            files.append(try Data(contentsOf: output))
        }
        #expect(files[0] == files[1])
    }

    /// Replaced while it is read: the build begins again, and its package is of the new version.
    @Test func aBuildBeginsAgainWithTheNewArchive() async throws {
        let scratch = try Scratch()
        let file = try await Self.archive(in: scratch)
        let archive = Array(try Data(contentsOf: file))
        let expected = scratch.url("expected.mbtiles")
        #expect(try await Self.build("pmtiles:\(file.path)", expected, in: scratch).status == 0)
        let server = try RangeServer(archive)
        defer { server.stop() }
        var begunAgain = 0
        for moment in [2, 4, 6] {
            server.replace(with: archive, afterRequests: moment)
            let output = scratch.url("again-\(moment).mbtiles")
            let outcome = try await Program.run(
                [
                    "build", "EE", "--zoom", "0-9", "--tileset", server.url, "--workers", "2", "-o", output.path,
                    "--restart-on-change",
                ], in: scratch)
            #expect(outcome.status == 0, "\(outcome.errors)")
            if outcome.errors.contains("starting over with the new one") { begunAgain += 1 }
            #expect(FileManager.default.fileExists(atPath: output.path))
        }
        #expect(begunAgain > 0, "no change met a running build")
    }

    /// Replaced at many moments: the package is of one version, or the job ends with the reason.
    @Test func aReplacedArchiveNeverGivesAMixture() async throws {
        let scratch = try Scratch()
        let file = try await Self.archive(in: scratch)
        let old = Array(try Data(contentsOf: file))
        // The same tiles in another archive: only the validator differs.
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
        #expect(outcome.status != 0 && outcome.errors.contains("range requests"), "\(outcome.errors)")
        #expect(server.requests.count == 1)
    }
}
