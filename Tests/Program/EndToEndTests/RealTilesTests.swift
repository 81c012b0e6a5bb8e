import Foundation
import TestSupport
import Testing
import Tiles

/// Real tiles served by nginx; the packages hold them byte for byte.
@Suite(.serialized)
struct RealTilesTests {
    @Test(
        .enabled(if: RealData.absence == nil, "\(RealData.absence ?? "")"), .timeLimit(.programs),
        arguments: [("MC", "monaco-2012.mbtiles"), ("LI", "liechtenstein-2013.mbtiles")])
    func aCountryHoldsTheServersTilesByteForByte(country: String, file: String) async throws {
        let scratch = try Scratch()
        let source = RealData.file(file)
        let nginx = try await Nginx(tiles: source, in: scratch)
        let tileset = scratch.url("tiles.yaml")
        let text =
            "id: real\nurl: \(nginx.url)/{z}/{x}/{y}.pbf\nformat: pbf\nzoom: 0-14\nattribution: © OpenStreetMap contributors\n"
        try Data(text.utf8).write(to: tileset)

        var digests: [String?] = []
        for workers in [4, 1] {
            let cluster = try await Cluster(workers: workers, in: scratch)
            let job = try await cluster.build([country, "--tileset", tileset.path])
            let package = try #require(job.packages.first)
            digests.append(package.sha256)
            try await compare(URL(filePath: try #require(package.path)), with: source, within: country, scratch)
            try await cluster.stop()
        }
        #expect(digests[0] == digests[1])
        try await nginx.stop()
    }

    /// Compares every tile with the sqlite3 program, which knows nothing of Packhorse; the mask comes from `packhorse mask`.
    private func compare(_ package: URL, with source: URL, within country: String, _ scratch: Scratch) async throws {
        let text = try await Program.run(["mask", country], in: scratch)
        let mask = try TileMask(cartoText: text.output.trimmingCharacters(in: .whitespacesAndNewlines))
        let built = try await rows(package, scratch)
        let expected = try await rows(source, scratch).filter { mask.contains($0.key) }
        #expect(!expected.isEmpty)
        #expect(built.keys.sorted() == expected.keys.sorted())
        #expect(built == expected)
    }

    /// Every tile's bytes, as hexadecimal text.
    private func rows(_ file: URL, _ scratch: Scratch) async throws -> [TileID: Substring] {
        let query = "SELECT zoom_level, tile_column, tile_row, hex(tile_data) FROM tiles"
        let outcome = try await Program.run(
            URL(filePath: "/usr/bin/sqlite3"), ["-readonly", "-separator", " ", file.path, query], in: scratch)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try outcome.output.split(separator: "\n").reduce(into: [:]) { rows, line in
            let cells = line.split(separator: " ")
            let numbers = cells.prefix(3).compactMap { Int($0) }
            let tile = try #require(TileID(zoom: numbers[0], x: numbers[1], tmsY: numbers[2]))
            rows[tile] = cells[3]
        }
    }
}
