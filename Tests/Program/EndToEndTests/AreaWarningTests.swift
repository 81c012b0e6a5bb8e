import Foundation
import Testing

/// A shape that can be read in two ways is built as written, and a warning describes the other reading.
@Suite(.timeLimit(.programs))
struct AreaWarningTests {
    private static func shape(_ west: Int, _ east: Int) -> String {
        """
        {"type":"Feature","properties":{"iso_3166_2":"EE-X1","name":"Own"},"geometry":{"type":"Polygon","coordinates":
        [[[\(west),10],[\(east),10],[\(east),20],[\(west),20],[\(west),10]]]}}
        """
    }

    @Test func longEdgesAreBuiltStraightAndToldOnStandardError() async throws {
        let scratch = try Scratch()
        let file = scratch.url("shape.geojson")
        let tileset = scratch.url("tiles.yaml")
        try Data("{id: t, url: 'http://127.0.0.1:9/{z}/{x}/{y}.png', zoom: 0-3}".utf8).write(to: tileset)
        let mask = ["mask", "--geojson", file.path, "--zoom", "3", "--format", "tiles"]
        for (west, east, columns, isClear) in [
            (-179, 179, Array(0...7), false), (-120, 150, Array(1...7), false), (170, -170, Array(0...7), false),
            (170, 190, [0, 7], true), (-80, 80, Array(2...5), true),
        ] {
            try Data(Self.shape(west, east).utf8).write(to: file)
            let outcome = try await Program.run(mask, in: scratch)
            let lines = outcome.output.split(separator: "\n").map(String.init)
            #expect(Set(lines) == Set(columns.map { "3/\($0)/3" }), "\(west) \(east): \(lines)")
            #expect(outcome.errors.isEmpty == isClear, "\(outcome.errors)")
            guard !isClear else { continue }
            for part in [
                "warning: '\(file.path)'", "2 edges span more than 180 degrees", "MultiPolygon", "instead of \(east)",
            ] {
                #expect(outcome.errors.contains(part), "\(outcome.errors)")
            }
            for command in [
                ["estimate", "--geojson", file.path, "--tileset", tileset.path, "--samples", "0"],
                ["regions", "import", file.path, "--regions-folder", scratch.url("regions").path, "--replace"],
            ] {
                let other = try await Program.run(command, in: scratch)
                #expect(other.status == 0 && other.errors.contains("2 edges span more than 180"), "\(other.errors)")
            }
        }
    }
}
