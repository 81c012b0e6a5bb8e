import Foundation
import Testing

/// Shapefiles, GeoPackages and FlatGeobuf by the real `ogr2ogr`, which also makes the files.
@Suite(.timeLimit(.minutes(15)))
struct GISFileTests {
    private static let gdal = "/usr/bin/ogr2ogr"

    private func tiles(_ arguments: [String], in scratch: Scratch) async throws -> Set<Substring> {
        let outcome = try await Program.run(["mask"] + arguments + ["--zoom", "12", "--format", "tiles"], in: scratch)
        #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
        return Set(outcome.output.split(separator: "\n"))
    }

    @Test func everyFormatAndSystemHasTheTilesOfTheSameGeoJSON() async throws {
        guard FileManager.default.isExecutableFile(atPath: Self.gdal) else {
            return print(
                "everyFormatAndSystemHasTheTilesOfTheSameGeoJSON: skipped, ogr2ogr is absent (Debian: gdal-bin)")
        }
        let scratch = try Scratch()
        func make(_ arguments: [String]) async throws {
            let made = try await Program.run(URL(filePath: Self.gdal), arguments, in: scratch)
            #expect(made.status == 0, "\(arguments): \(made.errors)")
        }
        func path(_ name: String) -> String { scratch.url(name).path }
        let (one, two) = (path("one.geojson"), path("two.geojson"))
        // No edge lies along a tile: a transformation moves positions by some centimetres.
        try Data(
            #"{"type":"Polygon","coordinates":[[[25.513,59.507],[26.213,59.511],[26.031,59.713],[25.513,59.507]]]}"#
                .utf8
        )
        .write(to: scratch.url("one.geojson"))
        try Data(#"{"type":"LineString","coordinates":[[24.713,59.407],[25.113,59.511]]}"#.utf8).write(
            to: scratch.url("two.geojson"))
        let first = try await tiles(["--area", one], in: scratch)
        let both = first.union(try await tiles(["--area", two], in: scratch))
        for system in ["4326", "3857", "3301", "32635"] {
            for (driver, name) in [("ESRI Shapefile", "a\(system).shp"), ("FlatGeobuf", "a\(system).fgb")] {
                try await make(["-f", driver, "-t_srs", "EPSG:\(system)", path(name), one])
                #expect(try await tiles(["--area", path(name)], in: scratch) == first, "\(name)")
            }
            let package = path("a\(system).gpkg")
            try await make(["-f", "GPKG", "-t_srs", "EPSG:\(system)", "-nln", "first (1)", package, one])
            try await make(["-f", "GPKG", "-update", "-t_srs", "EPSG:4326", "-nln", "second", package, two])
            #expect(try await tiles(["--area", package], in: scratch) == both, "\(package)")
            for name in ["a\(system).gpkg", "a\(system).fgb"] {
                let piped = try await Program.run(
                    URL(filePath: "/bin/sh"),
                    [
                        "-c", "\"$0\" mask --area - --zoom 12 --format tiles < \"$1\"", Program.packhorse.path,
                        path(name),
                    ], in: scratch)
                #expect(
                    Set(piped.output.split(separator: "\n")) == (name.hasSuffix("fgb") ? first : both),
                    "\(name): \(piped.errors)")
            }
        }
        try await make(["-f", "ESRI Shapefile", path("more.shz"), two])
        #expect(try await tiles(["--area", path("more.shz")], in: scratch) == tiles(["--area", two], in: scratch))
        try FileManager.default.removeItem(at: scratch.url("a4326.prj"))
        let unknown = try await Program.run(["mask", "--area", path("a4326.shp")], in: scratch)
        #expect(
            unknown.status == 65 && unknown.errors.contains("its reference system is not known"), "\(unknown.errors)")
        let alone = try await Program.run(
            URL(filePath: "/bin/sh"),
            ["-c", "\"$0\" mask --area - < \"$1\"", Program.packhorse.path, path("a3857.shp")], in: scratch)
        #expect(alone.status == 65 && alone.errors.contains("ZIP archive"), "\(alone.errors)")
    }

    /// A date, which GeoJSON has no type for, and a number that is none: attributes are no part of an area.
    @Test func wrongAttributesRefuseNoFileAndWrongGeometryDoes() async throws {
        guard FileManager.default.isExecutableFile(atPath: Self.gdal) else {
            return print(
                "wrongAttributesRefuseNoFileAndWrongGeometryDoes: skipped, ogr2ogr is absent (Debian: gdal-bin)")
        }
        let scratch = try Scratch()
        let ring = "[[[25.513,59.507],[26.213,59.511],[26.031,59.713],[25.513,59.507]]]"
        let (json, shape) = (scratch.url("a.geojson"), scratch.url("a.shp"))
        try Data(
            #"{"type":"Feature","properties":{"iso":"EE-X1","day":"2026/11/24","height":1.5},"geometry":{"type":"Polygon","coordinates":\#(ring)}}"#
                .utf8
        ).write(to: json)
        let made = try await Program.run(
            URL(filePath: Self.gdal), ["-f", "ESRI Shapefile", shape.path, json.path], in: scratch)
        #expect(made.status == 0, "\(made.errors)")
        let wanted = try await tiles(["--area", json.path], in: scratch)
        let dated = try await Program.run(["mask", "--area", shape.path], in: scratch)
        #expect(dated.status == 0 && !dated.errors.contains("warning"), "\(dated.errors)")
        #expect(try await tiles(["--area", shape.path], in: scratch) == wanted)
        var table = try Data(contentsOf: scratch.url("a.dbf"))
        let number = try #require(table.firstRange(of: Data("1.5".utf8)))
        table.replaceSubrange(number, with: Data("x!y".utf8))
        try table.write(to: scratch.url("a.dbf"))
        #expect(try await tiles(["--area", shape.path], in: scratch) == wanted)
        for command in [
            ["mask", "--area", shape.path],
            ["regions", "import", shape.path, "--id", "iso", "--regions-folder", scratch.url("regions").path],
        ] {
            let warned = try await Program.run(command, in: scratch)
            #expect(warned.status == 0 && warned.errors.contains("field a.height"), "\(command): \(warned.errors)")
        }
        // The longitude of the first position, after the heads of file and record, the box and the counts.
        var points = try Data(contentsOf: shape)
        points.replaceSubrange(156..<164, with: withUnsafeBytes(of: Double.nan.bitPattern.littleEndian) { Data($0) })
        try points.write(to: shape)
        let wrong = try await Program.run(["mask", "--area", shape.path], in: scratch)
        #expect(wrong.status == 65 && wrong.errors.contains("NaN coordinate"), "\(wrong.errors)")
    }

    /// About 400 files that no command may accept (ops/wrong-areas).
    @Test func wrongFilesAreRefusedWithOneLine() async throws {
        let scratch = try Scratch()
        let outcome = try await Program.run(
            URL(filePath: "ops/wrong-areas"), ["--program", Program.packhorse.path], in: scratch)
        #expect(outcome.status == 0, "\(outcome.output.suffix(4_000))\(outcome.errors.suffix(2_000))")
        #expect(outcome.output.contains(", 0 not refused"))
    }
}
