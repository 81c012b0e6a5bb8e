import Errors
import Foundation
import Testing
import TileBodies
import Tiles

@testable import Tilesets

/// `latest` of a tileset file, and what documents say about builds.
struct LatestTests {
    private static func file(_ text: String) throws -> TilesetFile {
        try TilesetFile(text: text, name: "t.yaml", folder: URL(fileURLWithPath: "/maps"))
    }

    private static func rules(_ text: String) throws -> LatestSource {
        try #require(LatestSource(text: try file(text).source.address))
    }

    /// The form that is recorded of Protomaps: not in order, checksums are optional.
    private static let protomaps = """
        [{"key":"20261123.pmtiles","size":138200000000,"uploaded":"2026-11-23T09:01:00Z","version":"4.15.2","md5sum":"1B2M2Y8AsgTpgAmY7PhCfg==","b3sum":"af"},
         {"key":"20261124.pmtiles","size":138300000000,"uploaded":"2026-11-24T09:02:00Z","version":"4.15.2"},
         {"key":"20261116.pmtiles","size":138100000000,"uploaded":"2026-11-16T09:00:00Z","version":"3.15.1"}]
        """

    private static func builds(_ json: String, _ text: String) throws -> [SourceBuild] {
        try BuildIndex.builds(json: Array(json.utf8), from: "https://index.example.org/a/builds.json", try rules(text))
    }

    private static let index =
        "latest: {index: 'https://i.example.org/b.json', url: 'https://b.example.org/{build}', size: size, md5: md5sum"

    @Test func theNewestOfAnIndexIsTheGreatest() throws {
        let builds = try Self.builds(Self.protomaps, Self.index + "}")
        #expect(builds.map(\.name) == ["20261124", "20261123", "20261116"])
        #expect(builds.map(\.date) == ["2026-11-24", "2026-11-23", "2026-11-16"])
        #expect(builds[0].address == "https://b.example.org/20261124.pmtiles" && builds[0].size == 138_300_000_000)
        #expect(builds.map(\.md5) == [nil, "d41d8cd98f00b204e9800998ecf8427e", nil])
        #expect(builds[1].difference(length: 138_200_000_000, etag: "\"d41d8cd98f00b204e9800998ecf8427e\"") == nil)
        #expect(builds[1].difference(length: 138_200_000_000, etag: "\"d41d8cd98f00b204e9800998ecf8427e-9\"") == nil)
        #expect(builds[1].difference(length: 1, etag: nil)?.contains("138200000000") == true)
        let other = builds[1].difference(length: 138_200_000_000, etag: "\"\(String(repeating: "0", count: 32))\"")
        #expect(other?.contains("d41d8cd98f00b204e9800998ecf8427e") == true)
    }

    @Test func anIndexCanBeOrderedAndNarrowed() throws {
        let chosen = try Self.builds(Self.protomaps, Self.index + ", match: {version: 3}}")
        #expect(chosen.map(\.name) == ["20261116"])
        let versions =
            #"{"note": "x", "all": [{"url": "v0.0.9.pmtiles", "n": "0.0.9"}, {"url": "v0.0.13.pmtiles", "n": "0.0.13"}]}"#
        let rules = "latest: {index: 'https://i.example.org/b.json', key: url, order: n}"
        let found = try Self.builds(versions, rules)
        #expect(found.first?.address == "https://index.example.org/a/v0.0.13.pmtiles" && found.first?.name == "v0.0.13")
        let two = #"{"a": [], "all": [{"key": "x"}]}"#
        #expect(throws: TilesetsError.self) { try Self.builds(two, Self.index + "}") }
        #expect(try Self.builds(two, Self.index + ", items: all}").map(\.name) == ["x"])
    }

    @Test(arguments: [
        ("[]", "lists no build"), ("{}", "no JSON document with a list"), ("<html>", "no JSON document with a list"),
        (#"[{"key":"../20261123.pmtiles"}]"#, "is no name of a build"), (#"[{"key":"a/b"}]"#, "is no name of a build"),
        (#"[{"name":"x"}]"#, "item 1 has no 'key'"), (#"[{"key":"a"},[]]"#, "item 2 is no object"),
        (#"[{"key":"a","size":-1}]"#, "number of bytes"), (#"[{"key":"a","size":1e300}]"#, "number of bytes"),
        (#"[{"key":"a","md5sum":"xyz"}]"#, "no MD5"),
    ])
    func aWrongIndexIsRefused(json: String, words: String) throws {
        let error = #expect(throws: TilesetsError.self) { try Self.builds(json, Self.index + "}") }
        #expect(error?.code == .badIndex && error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [
        ("20261118_001001_pt", "2026-11-18"), ("planet-2026-11-18.v2", "2026-11-18"), ("v4", nil), ("0.0.13", nil),
        ("20261345", nil), ("123456789", nil), ("20240229", "2024-02-29"), ("20230229", nil),
        (String(repeating: "20261118a", count: 4), nil),
    ])
    func aNameMayHaveADate(name: String, date: String?) { #expect(BuildName.date(in: name) == date) }

    @Test func datesAreLookedForBackwards() throws {
        // 2026-03-02, noon.
        let now = 1_772_452_800.0
        let days = try DatedAddress("https://h.example.org/{date}.pmtiles").builds(before: now)
        #expect(days.count == 10 && days[0].address == "https://h.example.org/20260302.pmtiles")
        #expect(days[2].address == "https://h.example.org/20260228.pmtiles" && days[2].date == "2026-02-28")
        let months = try DatedAddress("s3://b/{date:yyyy/mm}/p.pmtiles").builds(before: now)
        #expect(
            months.map(\.address).prefix(4) == [
                "s3://b/2026/03/p.pmtiles", "s3://b/2026/02/p.pmtiles", "s3://b/2026/01/p.pmtiles",
                "s3://b/2025/12/p.pmtiles",
            ])
        for text in [
            "http://h/{date:dd}.pmtiles", "http://h/{date}/{date}", "http://h/{dates}", "http://h/{date:yyyymmXX}",
        ] {
            #expect(throws: TilesetsError.self, "\(text)") { try DatedAddress(text) }
        }
    }

    @Test func documentsOfTileServersNameTheirBuild() throws {
        let tiles = ["https://t.example.org/planet/20261118_001001_pt/{z}/{x}/{y}.pbf"]
        #expect(try BuildIndex.name(tileAddresses: tiles) == "20261118_001001_pt")
        #expect(throws: TilesetsError.self) {
            try BuildIndex.name(tileAddresses: ["https://t.example.org/{z}/{x}/{y}"])
        }
        #expect(throws: TilesetsError.self) {
            try BuildIndex.name(tileAddresses: tiles + ["https://t.example.org/planet/20261119/{z}/{x}/{y}.pbf"])
        }
        #expect(try BuildIndex.name(text: Array(" 20261118_001001_pt\n".utf8)) == "20261118_001001_pt")
        #expect(try BuildIndex.name(text: Array("0aff  osm.versatiles".utf8)) == "0aff")
        for text in ["", "../x", "<!DOCTYPE html>"] {
            #expect(throws: TilesetsError.self, "\(text)") { try BuildIndex.name(text: Array(text.utf8)) }
        }
        #expect(try BuildIndex.name(archiveIndex: Array(#"{"version":"0.0.13","items":[]}"#.utf8)) == "0.0.13")
        #expect(throws: TilesetsError.self) { try BuildIndex.name(archiveIndex: Array(#"{"items":[]}"#.utf8)) }
    }

    @Test(arguments: [
        ("latest: protomap", "did you mean 'protomaps'"), ("latest: [a]", "expected the name of a preset"),
        ("latest: {url: 'https://h.example.org/p.pmtiles'}", "needs index, text, tilejson or archives"),
        ("latest: {index: 'https://h.example.org/i', url: 'https://h.example.org/p.pmtiles'}", "{build}"),
        (
            "latest: {index: 'https://h.example.org/i', url: 'https://h.example.org/{build}/{z}/{x}/{y}'}",
            "a tile server needs"
        ),
        ("latest: {text: 'https://h.example.org/i'}", "needs url"),
        ("latest: {text: 'i.txt', url: 'https://h/{build}'}", "no address of a web server"),
        ("latest: {tilejson: 'https://h.example.org/i', url: 'https://h.example.org/{build}'}", "has no url"),
        ("latest: {tilejson: 'https://h.example.org/i', key: a}", "is for an index"),
        ("latest: {index: 'https://h.example.org/i', text: 'https://h.example.org/t'}", "write one of them"),
        ("latest: {indx: 'https://h.example.org/i'}", "did you mean 'index'"),
        ("latest: https://h.example.org/planet.pmtiles", "names one build"),
        ("latest: protomaps\nurl: https://h.example.org/planet.pmtiles", "both latest and url"),
    ])
    func wrongKeysAreNamed(text: String, words: String) throws {
        let error = #expect(throws: TilesetsError.self) { try Self.file(text) }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test func everyPresetIsATilesetFile() throws {
        for preset in LatestPreset.all {
            let file = try Self.file("latest: \(preset.name)\npoliteness: {contact: maps@example.org}")
            #expect(file.source.scheme == .latest && file.notes == [preset.note].compactMap(\.self))
            let tileset = try file.forAsking()
            #expect(tileset.id == preset.name)
            // Its servers are public: they must know whom to ask.
            let error = #expect(throws: TilesetsError.self) { try Self.file("latest: \(preset.name)").forAsking() }
            #expect(error?.message.contains("without a contact") == true, "\(error?.message ?? "")")
            let direct = try TilesetFile(source: "latest:\(preset.name)", folder: URL(fileURLWithPath: "/"))
            #expect(direct.source == file.source)
            #expect(LatestSource(text: file.source.address)?.text == file.source.address)
        }
        let own = "latest: protomaps\nid: planet\npoliteness: {contact: maps@example.org}"
        #expect(try Self.file(own).forAsking().id == "planet")
    }

    @Test func whatASchedulesSubmissionCarriesIsTheSameFile() throws {
        let file = try Self.file(
            "id: planet\nlatest: openfreemap\nlayers: [water]\npoliteness: {contact: a@example.org}")
        let text = try #require(file.following)
        let again = try TilesetFile(text: text, name: "latest", folder: URL(fileURLWithPath: "/"))
        #expect(again.source == file.source && again.following == text)
        #expect(try again.forAsking().id == "planet" && again.fields.layers == ["water"])
        #expect(try Self.file("url: http://localhost/{z}/{x}/{y}.pbf").following == nil)
    }

    private static func resolved(_ name: String, id: String = "planet", more: String = "") throws -> Tileset {
        let file = try Self.file("id: \(id)\nlatest: http://localhost/{date}.pmtiles\n\(more)")
        var metadata = SourceMetadata()
        (metadata.format, metadata.zooms, metadata.attribution) = (.mvt, .all, "of \(name)")
        metadata.newest = TileSource(.remotePMTiles, "http://localhost/\(name).pmtiles")
        metadata.build = try SourceBuild(name: name, address: "http://localhost/\(name).pmtiles", size: 5)
        return try file.resolved(metadata: metadata)
    }

    @Test func buildsOfOneIDShareTheirTiles() throws {
        let (old, new) = (try Self.resolved("20261123"), try Self.resolved("20261124"))
        #expect(old.canonicalJSON != new.canonicalJSON && old.identityJSON == new.identityJSON)
        #expect(try Tileset(canonicalJSON: new.canonicalJSON).build == new.build)
        #expect(new.build?.date == "2026-11-24" && new.source.scheme == .remotePMTiles)
        #expect(try Self.resolved("20261124", id: "other").identityJSON != new.identityJSON)
        #expect(try Self.resolved("20261124", more: "layers: [water]").identityJSON != new.identityJSON)
        let plain = try Self.file("url: http://localhost/{z}/{x}/{y}.pbf").resolved()
        #expect(plain.identityJSON == plain.canonicalJSON)
    }

    /// The name of a build says nothing of the server: two servers with one id and one build have different tiles.
    @Test func buildsOfTileServersShareTheirTilesOnlyAtOneAddress() throws {
        func server(_ name: String, style: String = "light", header: String = "") throws -> [UInt8] {
            let file = try Self.file(
                "id: planet\nlatest: {text: 'http://localhost/planet.txt', url: 'http://localhost/\(style)/{build}/{z}/{x}/{y}.pbf'}\n"
                    + header)
            var metadata = SourceMetadata()
            (metadata.format, metadata.zooms) = (.mvt, .all)
            let address = "http://localhost/\(style)/\(name)/{z}/{x}/{y}.pbf"
            metadata.newest = TileSource(.templates, [address])
            metadata.build = try SourceBuild(
                name: name, address: address, document: .init(.text, at: "http://localhost/planet.txt"))
            return try file.resolved(metadata: metadata).identityJSON
        }
        let first = try server("20261123_001001")
        #expect(try server("20261124_001001") == first)
        #expect(try server("20261123_001001", style: "dark") != first)
        #expect(try server("20261123_001001", header: "headers: {X-Style: dark}") != first)
    }

    @Test func aDamagedBuildIsRefused() throws {
        let text = String(decoding: try Self.resolved("20261124").canonicalJSON, as: UTF8.self)
        for (old, new) in [("\"name\":\"20261124\"", "\"name\":\"../x\""), ("\"size\":5", "\"md5\":\"zz\"")] {
            #expect(text.contains(old))
            #expect(throws: TilesetsError.self) {
                try Tileset(canonicalJSON: Array(text.replacing(old, with: new).utf8))
            }
        }
    }
}
