import Catalog
import CatalogFormat
import Digests
import Errors
import Files
import Foundation
import Testing
import Tiles

/// Packages of several formats, editions and tilesets.
struct FormatsTests {
    let scratch: Scratch
    let catalog: Catalog

    init() throws {
        scratch = try Scratch()
        catalog = try Catalog(scratch.file("catalog"), create: true, baseURL: "https://maps.example/")
    }

    private func request(_ main: String, _ others: [PublishFile] = []) throws -> PublishRequest {
        var request = try scratch.request("EE", main)
        request.files = others
        return request
    }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.file("catalog/\(folder)").path).sorted()
    }

    /// Versions, patches, checks, guards and the index of a package whose only file is PMTiles.
    @Test func pmtilesAloneIsTheMainFile() throws {
        func alone(_ text: String) throws -> PublishRequest {
            var request = try request(text)
            request.format = "pmtiles"
            return request
        }
        let first = try catalog.publish(try alone(String(repeating: "a", count: 100)))
        #expect(first.version == 1 && first.pathInside == "packages/1/EE.pmtiles")
        #expect(try catalog.publish(try alone(String(repeating: "a", count: 100))).unchanged)
        #expect(try catalog.publish(try alone(String(repeating: "b", count: 90))).version == 2)
        #expect(try names("packages/1") == ["EE.pmtiles"] && names("packages/2") == ["EE.pmtiles"])
        #expect(try scratch.text("catalog/packages.json").contains("\"format\" : \"pmtiles\""))
        // A patch is one of PMTiles, and the index that names it is read again.
        let wanted = try catalog.wantedPatches("EE")
        #expect(wanted.map(\.format) == ["pmtiles"] && wanted.map(\.from) == [1])
        let made = try catalog.make(wanted[0]) { wanted, target in
            #expect(try Data(contentsOf: wanted.old).count == 100 && Data(contentsOf: wanted.new).count == 90)
            try Data("patch".utf8).write(to: target)
            return (Digest(of: Array("patch".utf8)), 5)
        }
        #expect(made)
        #expect(try catalog.wantedPatches("EE").isEmpty)
        #expect(try names("patches/EE") == ["1-2.pmtiles.patch"])
        let report = try catalog.verify()
        #expect(report.isVerified && report.bytes == 95, "\(report.problems)")
        let bytes = [UInt8](try Data(contentsOf: scratch.file("catalog/catalog.json")))
        let version = try #require(try CatalogIndex(decoding: bytes).packages.first?.versions.first)
        #expect(version.files.map(\.url) == ["packages/2/EE.pmtiles"] && version.files.map(\.format) == ["pmtiles"])
        #expect(version.patches.map(\.format) == ["pmtiles"])
        // A main file has no other patch.
        let text = String(decoding: bytes, as: UTF8.self)
        for wrong in [
            text.replacing("\"format\":\"pmtiles\",\"from\"", with: "\"from\""),
            text.replacing("\"format\" : \"pmtiles\",\n", with: "\"format\" : \"gpkg\",\n"),
        ] where wrong != text {
            #expect(throws: CatalogError.self) { try CatalogIndex(decoding: Array(wrong.utf8)) }
        }
        #expect(throws: CatalogError.self) { try catalog.publish(try alone("small")) }
        // MBTiles is another version, and so is the way back.
        #expect(
            try catalog.publish(try request(String(repeating: "m", count: 80))).pathInside == "packages/3/EE.mbtiles")
        #expect(try catalog.publish(try alone(String(repeating: "b", count: 90))).version == 4)
        #expect(try catalog.verify().isVerified)
    }

    @Test func theEntryTellsAllFormatsAndWhatElseIsKnown() throws {
        var request = try request("main", [try scratch.other("pmtiles", "pm"), try scratch.other("carto", "ca")])
        request.attribution = "© them"
        request.options.dataDate = "2026-10-01"
        request.tileset = "streets"
        request.zooms = ZoomRange(min: 0, max: 14)
        #expect(try catalog.publish(request).version == 1)
        #expect(try names("packages/1") == ["EE.carto", "EE.mbtiles", "EE.pmtiles"])
        #expect(
            try scratch.text("catalog/packages.json") == """
                {
                  "packages" : [
                    {
                      "agg_tiles_hash" : "D41D8CD98F00B204E9800998ECF8427E",
                      "attribution" : "© them",
                      "data_date" : "2026-10-01",
                      "files" : [
                        {
                          "extension" : ".carto",
                          "format" : "carto",
                          "sha256" : "\(Digest(of: Array("ca".utf8)))",
                          "size" : 2,
                          "url" : "https://maps.example/packages/1/EE.carto"
                        },
                        {
                          "extension" : ".pmtiles",
                          "format" : "pmtiles",
                          "sha256" : "\(Digest(of: Array("pm".utf8)))",
                          "size" : 2,
                          "url" : "https://maps.example/packages/1/EE.pmtiles"
                        }
                      ],
                      "id" : "EE",
                      "max_zoom" : 14,
                      "metainfo" : {
                        "name_en" : "Europe/Estonia"
                      },
                      "min_zoom" : 0,
                      "sha256" : "\(Digest(of: Array("main".utf8)))",
                      "size" : 4,
                      "tile_mask" : "QAAA:14",
                      "tileset" : "streets",
                      "url" : "https://maps.example/packages/1/EE.mbtiles",
                      "version" : 1
                    }
                  ]
                }

                """)
        let report = try catalog.verify()
        #expect(report.isVerified && report.bytes == 8)
        #expect(try catalog.packages().first?.allFiles.map(\.format) == ["mbtiles", "carto", "pmtiles"])
    }

    @Test func theVersionStaysOnlyWhileAllBytesDo() throws {
        let pm = try scratch.other("pmtiles", "pm")
        #expect(try catalog.publish(try request("main", [pm])).version == 1)
        let again = try catalog.publish(try request("main", [pm]))
        #expect(again.version == 1 && again.unchanged)
        // A format that was not asked for this time is still the same tiles.
        #expect(try catalog.publish(try request("main")).unchanged)
        #expect(try catalog.packages().first?.files.map(\.format) == ["pmtiles"])
        // One that was not there joins its version.
        let added = try catalog.publish(try request("main", [try scratch.other("carto", "ca")]))
        #expect(added.version == 1 && !added.unchanged)
        #expect(try catalog.packages().first?.files.map(\.format) == ["carto", "pmtiles"])
        // Other bytes of one format are another version of all.
        let other = try catalog.publish(try request("main", [try scratch.other("pmtiles", "PM")]))
        #expect(other.version == 2 && !other.unchanged)
        #expect(try catalog.packages().first?.files.map(\.format) == ["pmtiles"])
        #expect(try names("packages/2") == ["EE.mbtiles", "EE.pmtiles"])
        #expect(try names("packages/1") == ["EE.carto", "EE.mbtiles", "EE.pmtiles"])
        #expect(try scratch.text("catalog/packages/1/EE.pmtiles") == "pm")
        #expect(try catalog.verify().isVerified)
    }

    @Test func aNameIsNeverReusedForOtherBytes() throws {
        let folder = scratch.file("catalog/packages/1")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("left".utf8).write(to: folder.appendingPathComponent("EE.pmtiles"))
        #expect(try catalog.publish(try request("main", [try scratch.other("pmtiles", "pm")])).version == 2)
        #expect(try names("packages/1") == ["EE.pmtiles"])
        // The same for a format that comes later.
        try Data("left".utf8).write(to: scratch.file("catalog/packages/2/EE.carto"))
        let later = try catalog.publish(try request("main", [try scratch.other("carto", "ca")]))
        #expect(later.version == 3)
        #expect(try scratch.text("catalog/packages/2/EE.carto") == "left")
        #expect(try catalog.verify().isVerified)
    }

    @Test func aLostFormatIsPutBackAndADamagedOneFound() throws {
        let pm = try scratch.other("pmtiles", "pm")
        _ = try catalog.publish(try request("main", [pm]))
        let file = scratch.file("catalog/packages/1/EE.pmtiles")
        try FileManager.default.removeItem(at: file)
        #expect(try catalog.verify().problems.map(\.code) == ["missing-file"])
        #expect(try catalog.publish(try request("main", [pm])).unchanged)
        #expect(try catalog.verify().isVerified)
        try FileManager.default.removeItem(at: file)
        try Data("xx".utf8).write(to: file)
        #expect(try catalog.verify().problems.map(\.code) == ["wrong-digest"])
    }

    @Test func aFormatThatIsNotTheOneAnnouncedIsRefused() throws {
        let before = try scratch.text("catalog/packages.json")
        let file = try scratch.other("pmtiles", "pm")
        let wrong = PublishFile(
            format: "pmtiles", fileExtension: ".pmtiles", url: file.url, digest: Digest(of: [1]), size: file.size)
        #expect(throws: CatalogError.self) { try catalog.publish(try request("main", [wrong])) }
        for (format, name) in [
            ("mbtiles", ".x"), ("pmtiles", ".mbtiles"), ("PM", ".pm"), ("pm", "pm"), ("pm", "."), ("pm", "./a"),
            ("", ".pm"), ("-a", ".pm"),
        ] {
            let error = #expect(throws: CatalogError.self) {
                try catalog.publish(try request("main", [try scratch.other(format, "x", extension: name)]))
            }
            #expect(error?.code == .badRequest, "\(format) \(name)")
        }
        let twice = [try scratch.other("pm", "a"), try scratch.other("pm", "b", extension: ".q")]
        #expect(throws: CatalogError.self) { try catalog.publish(try request("main", twice)) }
        #expect(try scratch.text("catalog/packages.json") == before)
    }

    @Test func anotherTilesetTakesNoPlaceUnlessAllowed() throws {
        var request = try request("main")
        #expect(try catalog.publish(request).version == 1)
        // A list of an earlier build has no tileset: the first known tileset is kept.
        request.tileset = "streets"
        #expect(try catalog.publish(request).version == 1)
        var other = try self.request("other")
        other.tileset = "satellite"
        let error = #expect(throws: CatalogError.self) { try catalog.publish(other) }
        #expect(error?.code == .otherTileset)
        #expect(error?.message.contains("'streets'") == true && error?.message.contains("'satellite'") == true)
        // The same is said before anything is made, for this edition alone.
        let early = #expect(throws: CatalogError.self) { try catalog.check(["LV", "EE"], of: "satellite") }
        #expect(early?.message == error?.message)
        try catalog.check(["LV", "EE"], of: "streets")
        try catalog.check(["LV"], of: "satellite")
        try catalog.check(["EE"], of: "satellite", in: CatalogEdition(group: "terrain"))
        #expect(try catalog.packages().first?.version == 1)
        other.options.replacesTileset = true
        #expect(try catalog.publish(other).version == 2)
        #expect(try catalog.packages().first?.tileset == "satellite")
    }

    @Test func editionsAreCatalogsOfTheirOwn() throws {
        _ = try catalog.publish(try request("main"))
        for (group, language) in [("terrain", nil), ("terrain", "de"), (nil, "de"), (nil, "zh-Hant")] {
            var request = try request("\(group ?? "") \(language ?? "")")
            request.tileset = group ?? "streets"
            request.options.edition = try CatalogEdition(group: group, language: language)
            let done = try catalog.publish(request)
            #expect(done.version == 1)
            #expect(done.path.path.hasSuffix("catalog/\(request.options.edition.path)packages/1/EE.mbtiles"))
            #expect(
                try catalog.packages(in: request.options.edition).map(\.url) == [
                    "https://maps.example/\(request.options.edition.path)packages/1/EE.mbtiles"
                ])
        }
        #expect(
            try catalog.editions().map(\.path) == ["", "de/", "groups/terrain/", "groups/terrain/de/", "zh-Hant/"])
        #expect(try catalog.packages().count == 1)
        #expect(try catalog.verify().isVerified && catalog.verify().packages == 5)
        // An edition is a complete catalog for a client that knows only its folder.
        #expect(try Catalog(scratch.file("catalog/groups/terrain"), create: false).packages().count == 1)
        try Data("x".utf8).write(to: scratch.file("catalog/groups/terrain/de/packages/1/EE.mbtiles"))
        #expect(try catalog.verify().problems.allSatisfy { $0.id == "groups/terrain/de/EE" })
        for (group, language) in [
            ("", nil), ("..", nil), ("a/b", nil), ("A", nil), (nil, ""), (nil, "d"), (nil, "packages"), (nil, "de/x"),
            (nil, "de-"),
        ] {
            #expect(throws: CatalogError.self) { try CatalogEdition(group: group, language: language) }
        }
    }
}
