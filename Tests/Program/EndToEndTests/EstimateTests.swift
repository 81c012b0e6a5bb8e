import Foundation
import TestSupport
import Testing

/// `packhorse estimate` against servers that do not serve.
@Suite(.serialized)
struct EstimateTests {
    private static let tile: [UInt8] = [0x1A, 0x05, 0x0A, 0x01, 0x61, 0x78, 0x02]

    private func estimate(
        _ scratch: Scratch, _ url: String, _ more: [String] = [], zoom: String = "0-4"
    ) async throws -> Program.Outcome {
        let tileset = scratch.url("t.yaml")
        try Data("id: t\nurl: \(url)/{z}/{x}/{y}.pbf\nzoom: \(zoom)\nformat: pbf\n".utf8).write(to: tileset)
        return try await Program.run(["estimate", "EE", "--tileset", tileset.path] + more, in: scratch)
    }

    @Test(.timeLimit(.programs))
    func anAddressWithoutTilesIsAnErrorAndNotNothing() async throws {
        let scratch = try Scratch()
        let absent = try ScriptedServer { _ in .reply(404) }
        defer { absent.stop() }
        let none = try await estimate(scratch, absent.url)
        #expect(none.status == 65 && none.output.isEmpty, "\(none.output)\(none.errors)")
        for word in ["'t'", "\(absent.url)/{z}/{x}/{y}.pbf", "6 sampled tiles", "404", "hint:"] {
            #expect(none.errors.contains(word), "\(word): \(none.errors)")
        }
        let page = try ScriptedServer { _ in
            .reply(200, body: Array("<!DOCTYPE html><html><body>hello</body></html>".utf8))
        }
        defer { page.stop() }
        let html = try await estimate(scratch, page.url)
        #expect(
            html.status == 65 && html.errors.contains("html-page") && html.errors.contains(page.url), "\(html.errors)")
        let closed = try ScriptedServer { _ in .reply(404) }
        let address = closed.url
        closed.stop()
        let gone = try await estimate(scratch, address, zoom: "0")
        #expect(gone.status == 69 && gone.errors.contains(address) && gone.errors.contains("hint:"), "\(gone.errors)")
    }

    @Test(.timeLimit(.programs))
    func tilesThatFailAreCountedAndTheRestIsTold() async throws {
        let scratch = try Scratch()
        let server = try ScriptedServer { request in
            request.path.hasPrefix("/4/") ? .reply(403) : .reply(200, body: Self.tile)
        }
        defer { server.stop() }
        let some = try await estimate(scratch, server.url, ["--format", "carto,pmtiles"])
        #expect(some.status == 0, "\(some.errors)")
        #expect(some.errors.contains("2 of 6 sampled tiles failed: forbidden (2)"), "\(some.errors)")
        #expect(
            some.output.contains("fetch") && some.output.contains("as mbtiles") && some.output.contains("as pmtiles"))
        // The same tiles are sampled again.
        let first = try await estimate(scratch, server.url, ["--json"])
        let asked = Set(server.requests.map(\.path))
        let second = try await estimate(scratch, server.url, ["--json"])
        #expect(Set(server.requests.map(\.path)) == asked)
        func lines(_ outcome: Program.Outcome) -> [Substring] {
            outcome.output.split(separator: "\n").filter { !$0.contains("seconds") }
        }
        #expect(first.output.contains("\"files\""))
        #expect(lines(first) == lines(second))
        let styled = try await estimate(scratch, server.url, ["--format", "maplibre"])
        #expect(styled.status == 64 && styled.errors.contains("maplibre"), "\(styled.errors)")
    }
}

/// The free space of the disk to which the files are to go.
extension EstimateTests {
    @Test(.timeLimit(.programs))
    func theFreeSpaceOfADiskIsToldAndAShortageIsAWarning() async throws {
        let scratch = try Scratch()
        let server = try ScriptedServer { _ in .reply(200, body: Self.tile) }
        defer { server.stop() }
        // A folder that does not exist yet lies on the disk of the one above.
        let folder = scratch.url("data/catalog").path
        let asked = try await estimate(scratch, server.url, ["--disk", folder])
        #expect(asked.status == 0 && asked.output.contains("free in '\(folder)'"), "\(asked.output)\(asked.errors)")
        #expect(!asked.errors.contains("may not fit") && !asked.errors.contains("need up to"), "\(asked.errors)")
        // /proc has no free space at all.
        let full = try await estimate(scratch, server.url, ["--disk", "/proc"])
        #expect(full.status == 0 && full.errors.contains("need up to"), "\(full.errors)")
        #expect(full.errors.contains("the disk of '/proc' has 0 B free"), "\(full.errors)")
    }
}
