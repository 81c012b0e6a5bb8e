import Foundation
import Testing
import Tiles

/// Files with areas as commands read them: by content, from files and from standard input, as sets, with margins.
@Suite(.timeLimit(.programs))
struct AreaFileTests {
    private static let square = "25.5 59.5, 26.2 59.5, 26.2 59.7, 25.5 59.7, 25.5 59.5"
    private static var positions: [(String, String)] {
        square.split(separator: ",").map { pair in
            let words = pair.split(separator: " ").map(String.init)
            return (words[0], words[1])
        }
    }

    /// The same square in every format that is read without another program.
    private static var files: [(kind: String, text: String)] {
        let json = positions.map { "[\($0.0),\($0.1)]" }.joined(separator: ",")
        let geometry = "{\"type\":\"Polygon\",\"coordinates\":[[\(json)]]}"
        let feature = "{\"type\":\"Feature\",\"properties\":{},\"geometry\":\(geometry)}"
        let ring = positions.map { "\($0.0),\($0.1),0" }.joined(separator: "\n ")
        return [
            ("geojson", geometry), ("sequence", "\(feature)\n\(feature)\n"), ("records", "\u{1E}\(feature)\n"),
            ("poly", "square\n1\n" + positions.map { "  \($0.0)\t\($0.1)\n" }.joined() + "END\nEND\n"),
            (
                "kml",
                "<kml xmlns='http://www.opengis.net/kml/2.2'><Placemark><Polygon><outerBoundaryIs><LinearRing><coordinates>\(ring)</coordinates></LinearRing></outerBoundaryIs></Polygon></Placemark></kml>"
            ), ("wkt", "SRID=4326;POLYGON((\(square)))"),
        ]
    }

    private static let track = """
        <gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><wpt lat="59.58" lon="27.11"/>
        <rte><rtept lat="59.5" lon="25.5"/><rtept lat="59.6" lon="25.7"/></rte></gpx>
        """

    private func tiles(_ arguments: [String], in scratch: Scratch, zoom: Int = 12) async throws -> Set<String> {
        let outcome = try await Program.run(
            ["mask"] + arguments + ["--zoom", "\(zoom)", "--format", "tiles"], in: scratch)
        #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
        return Set(outcome.output.split(separator: "\n").map(String.init))
    }

    @Test func theContentTellsTheFormatWhateverTheNameIs() async throws {
        let scratch = try Scratch()
        let box = try await tiles(["bbox(25.5,59.5,26.2,59.7)"], in: scratch)
        #expect(box.count > 20)
        for (kind, text) in Self.files {
            for name in ["area.\(kind)", "area.csv"] {
                let file = scratch.url(name)
                try Data(text.utf8).write(to: file)
                #expect(try await tiles(["--area", file.path], in: scratch) == box, "\(kind)")
            }
            let piped = try await Program.run(
                URL(filePath: "/bin/sh"),
                [
                    "-c", "\"$0\" mask --area - --zoom 12 --format tiles < \"$1\"", Program.packhorse.path,
                    scratch.url("area.csv").path,
                ],
                in: scratch)
            #expect(Set(piped.output.split(separator: "\n").map(String.init)) == box, "\(kind): \(piped.errors)")
        }
        let table = scratch.url("points.geojson")
        try Data("name,lon,lat\nA,25.5,59.5\n".utf8).write(to: table)
        #expect(try await tiles(["--area", table.path, "--radius", "3km"], in: scratch).count > 2)
        let refused = try await Program.run(
            ["mask", "--area", scratch.url("area.wkt").path, "--radius", "3km"], in: scratch)
        #expect(refused.status == 64 && refused.errors.contains("--margin"), "\(refused.errors)")
    }

    @Test func aFileInEstimateAndListsIsTheSameArea() async throws {
        let scratch = try Scratch()
        let tileset = scratch.url("tiles.yaml")
        try Data("{id: t, url: 'http://127.0.0.1:9/{z}/{x}/{y}.png', zoom: 0-12}".utf8).write(to: tileset)
        let file = scratch.url("lake.poly")
        try Data(Self.files.first { $0.kind == "poly" }?.text.utf8 ?? "".utf8).write(to: file)
        let list = scratch.url("packages.yaml")
        try Data("- area: lake.poly\n- id: cut\n  area: lake.poly\n  minus: [\"bbox(25.5,59.5,25.8,59.7)\"]\n".utf8)
            .write(to: list)
        for area in [["--area", file.path], ["--packages", list.path]] {
            let outcome = try await Program.run(
                ["estimate"] + area + ["--tileset", tileset.path, "--samples", "0", "--json"], in: scratch)
            #expect(outcome.status == 0 && outcome.output.contains("\"zooms\""), "\(outcome.errors)")
        }
        let whole = try await tiles(["--area", file.path], in: scratch)
        try Data("- id: cut\n  area: lake.poly\n  minus: [{bbox: \"25.5,59.5,25.8,59.7\"}]\n".utf8).write(to: list)
        let cut = try await tiles(["--packages", list.path], in: scratch)
        let removed = try await tiles(["bbox(25.5,59.5,25.8,59.7)"], in: scratch)
        #expect(cut.isSubset(of: whole) && !cut.isEmpty && cut.count < whole.count)
        #expect(whole.subtracting(cut).isSubset(of: removed))
        #expect(whole.subtracting(removed).isSubset(of: cut))
        try Data("- id: both\n  union: [LV, {area: lake.poly}]\n  and: [EE]\n".utf8).write(to: list)
        let (estonia, latvia) = (try await tiles(["EE"], in: scratch), try await tiles(["LV"], in: scratch))
        #expect(try await tiles(["--packages", list.path], in: scratch) == latvia.union(whole).intersection(estonia))
        for (text, words) in [
            ("- union: [EE, LV]", "no 'id'"), ("- {id: a, union: []}", "0 areas"),
            ("- {id: a, union: [{nothing: 1}]}", "'nothing'"),
            ("- {id: a, region: EE, minus: [{region: EE, bbox: '1,2,3,4'}]}", "use only one"),
            ("- {area: '-'}", "names files"),
            ("- {region: EE, margin: 5 apples}", "margin"),
        ] {
            try Data(text.utf8).write(to: list)
            let outcome = try await Program.run(["mask", "--packages", list.path], in: scratch)
            #expect(outcome.status == 65 && outcome.errors.contains(words), "\(text): \(outcome.errors)")
        }
        // What is empty is the set, and not the region that it is made of.
        for cut in ["minus: ['bbox(0,40,45,75)']", "and: ['bbox(100,1,101,2)']", "and: [AU]"] {
            try Data("- {id: nothing, region: EE, \(cut)}".utf8).write(to: list)
            // Tile 0/0/0 alone, which every area touches, is nothing.
            for command in [["mask", "--zoom", "6"], ["estimate", "--zoom", "0-6", "--tileset", tileset.path]] {
                let outcome = try await Program.run(command + ["--packages", list.path], in: scratch)
                #expect(outcome.status == 65 && outcome.errors.contains("the set 'nothing'"), "\(outcome)")
            }
            let outcome = try await Program.run(
                ["estimate", "--packages", list.path, "--zoom", "5-6", "--tileset", tileset.path, "--samples", "0"],
                in: scratch)
            #expect(outcome.status == 65 && outcome.errors.contains("the set 'nothing'"), "\(outcome.errors)")
        }
    }

    @Test func aBoxMayBeginWithANegativeWest() async throws {
        let scratch = try Scratch()
        let box = try await tiles(["bbox(-1,59,25,60)"], in: scratch)
        #expect(try await tiles(["-1,59,25,60"], in: scratch) == box && !box.isEmpty)
    }

    @Test func severalAreasBecomeOnePackage() async throws {
        let scratch = try Scratch()
        let tileset = scratch.url("tiles.yaml")
        try Data("{id: t, url: 'http://127.0.0.1:9/{z}/{x}/{y}.png', zoom: 0-6}".utf8).write(to: tileset)
        let file = scratch.url("a.wkt")
        try Data("POLYGON((0 0,1 0,1 1,0 0))".utf8).write(to: file)
        let parts: [[String]] = [["EE"], ["LV"], ["bbox(10,10,11,11)"], ["--area", file.path]]
        var union: Set<String> = []
        for part in parts { union.formUnion(try await tiles(part, in: scratch, zoom: 9)) }
        #expect(try await tiles(["--merge"] + parts.flatMap(\.self), in: scratch, zoom: 9) == union)
        let several = try await Program.run(["mask", "EE", "--area", file.path], in: scratch)
        #expect(several.status == 64 && several.errors.contains("--merge"), "\(several.errors)")
        let named = try await Program.run(
            ["estimate", "--id", "baltics", "EE", "LV", "--tileset", tileset.path, "--samples", "0"], in: scratch)
        #expect(named.status == 64 && named.errors.contains("--merge"), "\(named.errors)")
        let merged = try await Program.run(
            ["estimate", "--merge", "--id", "baltics", "EE", "LV", "--tileset", tileset.path, "--samples", "0"],
            in: scratch)
        #expect(merged.status == 0, "\(merged.errors)")
    }

    @Test func routesAndMarginsWidenAreas() async throws {
        let scratch = try Scratch()
        let file = scratch.url("trip.xml")
        try Data(Self.track.utf8).write(to: file)
        let bare = try await tiles(["--route", file.path], in: scratch)
        let wide = try await tiles(["--route", file.path, "--margin", "2km"], in: scratch)
        let stepped = try await tiles(["--route", file.path, "--margin", "5km,12:2km"], in: scratch)
        #expect(bare.isSubset(of: wide) && bare.count < wide.count && stepped == wide)
        let places = try await tiles(["--route", file.path, "--waypoints"], in: scratch)
        #expect(bare.isSubset(of: places) && places.count > bare.count)
        #expect(try await tiles(["--area", file.path], in: scratch) == bare)
        let estonia = try await tiles(["EE"], in: scratch, zoom: 9)
        let around = try await tiles(["EE", "--margin", "40km"], in: scratch, zoom: 9)
        #expect(estonia.isSubset(of: around) && around.count > estonia.count)
        for margin in ["-1km", "10001km", "5", "5km,500m", "500m,14:5km", "km", "1km,14:", ","] {
            let outcome = try await Program.run(["mask", "EE", "--margin=\(margin)", "--zoom", "3"], in: scratch)
            #expect(outcome.status == (margin == "5" ? 0 : 64), "\(margin): \(outcome.errors)")
            #expect(outcome.errors.contains("--margin 5 is in metres") == (margin == "5"), "\(outcome.errors)")
        }
        let long = scratch.url("long.gpx")
        try Data("<gpx><rte><rtept lat='60' lon='0'/><rtept lat='60' lon='20'/></rte></gpx>".utf8).write(to: long)
        let warned = try await Program.run(["mask", "--route", long.path], in: scratch)
        #expect(warned.status == 0 && warned.errors.contains("warning: "), "\(warned.errors)")
        #expect(warned.errors.contains(" 1107 km"), "\(warned.errors)")
    }

    @Test func wrongFilesAreRefusedInOneLine() async throws {
        let scratch = try Scratch()
        let file = scratch.url("area")
        for (text, words) in [
            ("", "it is empty"),
            ("<gpx><rte><rtept lat='95' lon='1'/></rte></gpx>", "line 1: longitude 1.0, latitude 95.0"),
            (
                "<kml><NetworkLink><href>http://127.0.0.1:9/</href></NetworkLink></kml>",
                "a NetworkLink names 'http://127.0.0.1:9/'"
            ),
            ("SRID=3857;POINT(1 2)", "SRID 3857"), ("lake\n1\n 1 2\n", "ends inside a section"),
            ("<html/>", "root <html>"),
            ("<!DOCTYPE gpx [<!ENTITY a 'b'>]><gpx/>", "document type"), ("{\"type\":\"Point\"", "GeoJSON ends"),
        ] {
            try Data(text.utf8).write(to: file)
            let outcome = try await Program.run(["mask", "--area", file.path], in: scratch)
            #expect(outcome.status == 65 && outcome.errors.contains(words), "\(text): \(outcome.errors)")
            #expect(
                outcome.errors.split(separator: "\n").filter { !$0.hasPrefix("hint:") }.count == 1, "\(outcome.errors)")
        }
        try Data(Self.track.utf8).write(to: file)
        for option in ["--geojson", "--points"] {
            let other = try await Program.run(["mask", option, file.path], in: scratch)
            #expect(other.status == 65 && other.errors.contains("its content is GPX: use --area"), "\(other.errors)")
        }
        let id = try await Program.run(["mask", "--merge", "--id", "bal tics", "EE", "LV"], in: scratch)
        #expect(id.status == 64 && id.errors.contains("'bal tics' is no id"), "\(id.errors)")
        let deep = try await Program.run(["mask", "EE", "--zoom", "30"], in: scratch)
        #expect(deep.status == 64 && deep.errors.contains("0...22"), "\(deep.errors)")
        let missing = try await Program.run(["mask", "--area", "/nonexistent.gpx"], in: scratch)
        #expect(missing.status == 66 && missing.errors.contains("/nonexistent.gpx"))
    }

    @Test func formatsOfGISProgramsAreReadByOGRWhenItIsInstalled() async throws {
        let scratch = try Scratch()
        let file = scratch.url("a.bin")
        let (programs, script) = (scratch.url("bin"), scratch.url("bin").appending(path: "ogr2ogr"))
        try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
        for head in [
            "\0\0\u{27}\n", "fgb\u{3}fgb\u{1}", "SQLite format 3\0" + String(repeating: "\0", count: 52) + "GPKG",
        ] {
            try Data(head.utf8).write(to: file)
            let absent = try await Program.run(
                ["mask", "--area", file.path], environment: ["PATH": "/nonexistent"], in: scratch)
            #expect(absent.status == 65 && absent.errors.contains("gdal-bin"), "\(absent.errors)")
        }
        try Data("fgb\u{3}fgb\u{1}".utf8).write(to: file)
        let two = [25, 26].map { "echo '{\"type\":\"Point\",\"coordinates\":[\($0),59]}'" }.joined(separator: "; ")
        // A stand-in that answers as the program does.
        for (body, status, words) in [
            (two, 0, ""),
            (
                "echo '{\"type\":\"Point\",\"coordinates\":[25,59]}'; echo 'ERROR 1: cut' >&2", 65,
                "ogr2ogr: ERROR 1: cut"
            ),
            ("echo 'ERROR 4: no driver' >&2; exit 1", 65, "ogr2ogr: ERROR 4: no driver"),
            (
                "for i in 1 2 3; do echo \"Warning 1: Value 'x' of field a.$i parsed incompletely\" >&2; done; \(two)",
                0,
                "warning: '\(file.path)': ogr2ogr: Value 'x' of field a.1 parsed incompletely (and 2 more)"
            ),
            (
                "yes 'Warning 1: Value of a field' | head -n 20000 >&2; echo 'ERROR 1: cut' >&2; \(two)", 65,
                "ogr2ogr: ERROR 1: cut"
            ),
            ("[ \"$CPL_MAX_ERROR_REPORTS\" = 0 ] || exit 8; \(two)", 0, ""),
            ("echo 'Warning 1: Infinite or NaN coordinate encountered' >&2; \(two)", 65, "NaN coordinate"),
            ("exit 0", 65, "no coordinates"),
            ("echo '{\"type\":'", 65, "record 1 (line 1)"),
        ] {
            try Data(
                "#!/bin/sh\n[ \"$2 $3 $4\" = 'GeoJSONSeq -t_srs EPSG:4326' ] || exit 9\n\(body)\n"
                    .utf8
            ).write(to: script)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script.path)
            let outcome = try await Program.run(
                ["mask", "--area", file.path, "--zoom", "8", "--format", "tiles"],
                environment: ["PATH": "\(programs.path):/usr/bin:/bin"], in: scratch)
            #expect(outcome.status == Int32(status), "\(body): \(outcome.errors)")
            #expect(words.isEmpty || outcome.errors.contains(words), "\(body): \(outcome.errors)")
            if status == 0 { #expect(outcome.output.split(separator: "\n").count == 2, "\(outcome.output)") }
        }
    }

    @Test func aBoundaryIsWrittenAndReadAgain() async throws {
        let scratch = try Scratch()
        let file = scratch.url("region")
        for region in ["EE", "NO", "RU", "ZA", "FJ", "DE-BE"] {
            let outcome = try await Program.run(["regions", "show", region, "--geojson"], in: scratch)
            #expect(outcome.status == 0)
            try Data(outcome.output.utf8).write(to: file)
            #expect(
                try await tiles(["--area", file.path], in: scratch, zoom: 9) == tiles([region], in: scratch, zoom: 9),
                "\(region)")
        }
        let poly = scratch.url("lake.poly")
        try Data((Self.files.first { $0.kind == "poly" }?.text ?? "").utf8).write(to: poly)
        let folder = ["--regions-folder", scratch.url("regions").path]
        let imported = try await Program.run(
            ["regions", "import", poly.path, "--as", "lake", "--parent", "EE"] + folder, in: scratch)
        #expect(imported.status == 0 && imported.output.contains("added LAKE"), "\(imported.errors)")
        #expect(try await tiles(["lake"] + folder, in: scratch) == tiles(["bbox(25.5,59.5,26.2,59.7)"], in: scratch))
        let again = try await Program.run(["regions", "import", poly.path] + folder, in: scratch)
        #expect(again.status == 73, "\(again.errors)")
    }
}
