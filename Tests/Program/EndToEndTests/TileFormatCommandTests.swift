import Foundation
import TestSupport
import Testing

/// MapLibre tiles, terrain and deep sources in the commands, with a tile server and files.
@Suite(.serialized, .timeLimit(.programs))
struct TileFormatCommandTests {
    private static let scene = "bbox(24.7,59.4,24.9,59.5)"

    /// A MapLibre tile with the layer "land": one point.
    private static let mlt: [UInt8] =
        [0x15, 1, 4] + Array("land".utf8) + [0x50, 1, 4, 2, 0x30, 2, 1, 1, 0, 0x13, 0x42, 2, 2, 0x1A, 0x54]

    private func run(_ scratch: Scratch, _ arguments: String..., status: Int32 = 0) async throws -> Program.Outcome {
        let outcome = try await Program.run(arguments, in: scratch)
        #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
        return outcome
    }

    private func file(_ scratch: Scratch, _ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: scratch.url(name))
        return scratch.url(name).path
    }

    @Test func mapLibreTilesReachPackagesAndDevices() async throws {
        let server = try ScriptedServer { request in
            request.path.hasSuffix("/tiles.json")
                ? .reply(
                    200,
                    body: Array(#"{"tiles":["/{z}/{x}/{y}"],"encoding":"mlt","minzoom":0,"maxzoom":6}"#.utf8))
                : .reply(200, headers: [("Content-Type", "application/vnd.maplibre-tile")], body: Self.mlt)
        }
        defer { server.stop() }
        let scratch = try Scratch()
        let tileset = try file(scratch, "tiles.yaml", "url: \(server.url)/tiles.json\nid: streets\n")
        let (main, other) = (scratch.url("out.mbtiles").path, scratch.url("out.pmtiles").path)
        _ = try await run(scratch, "build", Self.scene, "--tileset", tileset, "-o", main)
        _ = try await run(scratch, "build", Self.scene, "--tileset", tileset, "-o", other)
        #expect(try await run(scratch, "verify", main, other).output.contains("tiles"))
        let said = try await run(scratch, "inspect", main, "--json").output
        #expect(said.contains("\"mlt\""), "\(said)")
        let layers = try Data(contentsOf: scratch.url("out.mbtiles")).firstRange(of: Data(#""id":"land""#.utf8))
        #expect(layers != nil, "the layers are found in the tiles")
        #expect(try Array(Data(contentsOf: scratch.url("out.pmtiles")))[99] == 6, "the tile type of the header")
        let store = scratch.url("store").path
        _ = try await run(scratch, "device", "adopt", main, "--store", store)
        _ = try await run(scratch, "device", "adopt", other, "--id", "copy", "--store", store)
        _ = try await run(scratch, "device", "verify", "--deep", "--store", store)
        // A choice of layers is refused before anything is asked for.
        let cut = try file(scratch, "cut.yaml", "url: \(server.url)/tiles.json\nlayers: [land]\n")
        let refused = try await run(
            scratch, "build", Self.scene, "--tileset", cut, "-o", scratch.url("no.mbtiles").path, status: 78)
        #expect(refused.errors.contains("MapLibre tile") && refused.errors.contains("layers"), "\(refused.errors)")
    }

    @Test func aServerWithAnotherFormatIsNamed() async throws {
        let server = try ScriptedServer { _ in .reply(200, body: Self.mlt) }
        defer { server.stop() }
        let scratch = try Scratch()
        let tileset = try file(scratch, "t.yaml", "url: \(server.url)/{z}/{x}/{y}.pbf\nzoom: 0-2\n")
        let refused = try await run(scratch, "estimate", Self.scene, "--tileset", tileset, status: 65)
        #expect(refused.errors.contains("MapLibre tile"), "\(refused.errors)")
    }

    @Test func aDeepSourceSaysHowDeepAndHowLarge() async throws {
        let server = try ScriptedServer { _ in .reply(200, body: Self.mlt) }
        defer { server.stop() }
        let scratch = try Scratch()
        let said = try file(scratch, "said.yaml", "id: deep\nurl: \(server.url)/{z}/{x}/{y}.mlt\nzoom: 0-15\n")
        let output = scratch.url("out.mbtiles").path
        let deep = try await run(scratch, "build", Self.scene, "--tileset", said, "-o", output)
        #expect(deep.errors.contains("'deep' ends at zoom 15") && deep.errors.contains("about"), "\(deep.errors)")
        #expect(deep.errors.contains("--zoom 0-14"))
        #expect(try await run(scratch, "inspect", output).output.contains("15"))
        let estimate = try await run(scratch, "estimate", Self.scene, "--tileset", said, "--samples", "0")
        #expect(estimate.errors.contains("ends at zoom 15"))
        let asked = try await run(
            scratch, "estimate", Self.scene, "--tileset", said, "--samples", "0", "--zoom", "0-15")
        #expect(!asked.errors.contains("ends at zoom"))
        // Where nobody says the zooms, 14 is the end, and there is nothing to say.
        let unsaid = try file(scratch, "unsaid.yaml", "id: deep\nurl: \(server.url)/{z}/{x}/{y}.mlt\n")
        let usual = try await run(scratch, "estimate", Self.scene, "--tileset", unsaid, "--samples", "0")
        #expect(!usual.errors.contains("ends at zoom") && usual.output.contains("14 ") && !usual.output.contains("15 "))
    }

    /// The size of a deep source is that of the one sample.
    @Test func aDryRunOfADeepSourceAsksForEachTileOnce() async throws {
        let server = try ScriptedServer { _ in .reply(200, body: Self.mlt) }
        defer { server.stop() }
        let scratch = try Scratch()
        let tileset = try file(scratch, "said.yaml", "id: deep\nurl: \(server.url)/{z}/{x}/{y}.mlt\nzoom: 0-15\n")
        let output = scratch.url("out.mbtiles").path
        let said = try await run(scratch, "build", Self.scene, "--tileset", tileset, "-o", output, "--dry-run")
        #expect(said.errors.contains("'deep' ends at zoom 15") && said.errors.contains("about"), "\(said.errors)")
        let paths = server.requests.map(\.path)
        #expect(paths.count > 15 && Set(paths).count == paths.count, "\(paths)")
    }

    @Test func cartoPackagesOfMapLibreTilesAreRefusedBeforeTheBuild() async throws {
        let server = try ScriptedServer { _ in .reply(200, body: Self.mlt) }
        defer { server.stop() }
        let scratch = try Scratch()
        let tileset = try file(scratch, "t.yaml", "url: \(server.url)/{z}/{x}/{y}.mlt\nzoom: 0-2\n")
        let refused = try await run(
            scratch, "build", Self.scene, "--tileset", tileset, "-o", scratch.url("x.carto.mbtiles").path, "--format",
            "carto", status: 65)
        #expect(refused.errors.contains("format carto holds") && refused.errors.contains("mlt"), "\(refused.errors)")
        #expect(server.requests.isEmpty)
    }

    /// Two archives of this machine are one source; the deeper one is for one tile of zoom 4.
    @Test func archivesOfThisMachineAreOneSource() async throws {
        let server = try ScriptedServer { _ in .reply(200, body: Self.mlt) }
        defer { server.stop() }
        let scratch = try Scratch()
        let source = "\(server.url)/{z}/{x}/{y}.mlt"
        for (name, zooms) in [("planet.pmtiles", "0-4"), ("4-9-4.pmtiles", "5-7")] {
            let tileset = try file(scratch, "source.yaml", "url: \(source)\nzoom: \(zooms)\n")
            _ = try await run(scratch, "build", Self.scene, "--tileset", tileset, "-o", scratch.url(name).path)
        }
        let archives = try file(
            scratch, "archives.yaml",
            """
            id: both
            archives:
              - {url: planet.pmtiles, zoom: 0-4}
              - {url: "4-{x}-{y}.pmtiles", zoom: 5-7, cell_zoom: 4}
            """)
        let output = scratch.url("both.mbtiles").path
        _ = try await run(scratch, "build", Self.scene, "--tileset", archives, "-o", output)
        #expect(try await run(scratch, "verify", output).output.contains("8 tiles"))
        // Where there is no archive, there are no tiles: a box of the other half of the world.
        let away = scratch.url("away.mbtiles").path
        let none = try await Program.run(
            ["build", "bbox(-60,-10,-59.9,-9.9)", "--tileset", archives, "--zoom", "5-7", "-o", away], in: scratch)
        #expect(none.status == 0 || none.errors.contains("no tile"), "\(none.errors)")
        let wrong = try await run(
            scratch, "build", Self.scene, "--tileset", archives, "--zoom", "8", "-o", away, status: 64)
        #expect(wrong.errors.contains("0-7"))
    }
}
