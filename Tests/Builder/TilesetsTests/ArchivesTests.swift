import Errors
import Foundation
import Testing
import TileBodies
import Tiles

@testable import Tilesets

/// The key `archives`, indexes, and which archives an area needs.
struct ArchivesTests {
    private static let folder = URL(fileURLWithPath: "/maps")

    private static func file(_ text: String) throws -> TilesetFile {
        try TilesetFile(text: text, name: "t.yaml", folder: folder)
    }

    private static func tileset(_ text: String) throws -> Tileset {
        var metadata = SourceMetadata()
        (metadata.format, metadata.zooms) = (.webp, .all)
        return try file(text).resolved(metadata: metadata)
    }

    private static let two = """
        id: dem
        encoding: terrarium
        tile_size: 512
        archives:
          - {url: planet.pmtiles, zoom: 0-12}
          - {url: "6-{x}-{y}.pmtiles", zoom: 13-18, cell_zoom: 6}
        """

    @Test func aListOfArchivesIsRead() throws {
        let tileset = try Self.tileset(Self.two)
        #expect(
            tileset.source
                == TileSource(.archives, ["0-12 /maps/planet.pmtiles", "13-18@6 /maps/6-{x}-{y}.pmtiles"]))
        #expect(tileset.encoding == .terrarium && tileset.tileSize == 512 && tileset.originName == nil)
        #expect(!tileset.source.isReadInRanges && tileset.source.path == nil)
        #expect(try Tileset(canonicalJSON: tileset.canonicalJSON) == tileset)
        let remote = try Self.tileset(
            "id: a\narchives: [{url: a b.mbtiles, zoom: 0}, {url: \"pmtiles:http://10.0.0.1/{z}/%7Bx%7D/{y}\", zoom: 3-5, cell_zoom: 2}]"
        )
        #expect(remote.source.addresses == ["0 /maps/a b.mbtiles", "3-5@2 http://10.0.0.1/{z}/{x}/{y}"])
        #expect(remote.originName == "10.0.0.1" && remote.source.isReadInRanges)
        let parts = try remote.archives()
        #expect(remote.alone(parts[0]).source == TileSource(.mbtiles, "/maps/a b.mbtiles"))
        #expect(remote.alone(parts[1]).source.scheme == .remotePMTiles)
    }

    @Test func anAreaNeedsTheArchivesOfItsCellsAlone() throws {
        let tileset = try Self.tileset(Self.two)
        let mask = TileMask(
            tiles: [try #require(TileID("14/8529/5975")), try #require(TileID("14/8704/5975"))], maxZoom: 14)
        let zooms = try ZoomRange(parsing: "0-14")
        let narrow = try tileset.narrowed(to: mask, zooms: zooms)
        #expect(
            narrow.source.addresses == [
                "0-12 /maps/planet.pmtiles", "13-18@6/34/23 /maps/6-34-23.pmtiles",
                "13-18@6/33/23 /maps/6-33-23.pmtiles",
            ])
        #expect(try narrow.narrowed(to: mask, zooms: zooms) == narrow)
        #expect(try Tileset(canonicalJSON: narrow.canonicalJSON) == narrow)
        #expect(try tileset.narrowed(to: mask, zooms: ZoomRange(parsing: "0-12")).source.addresses.count == 1)
        #expect(try tileset.narrowed(to: mask, zooms: ZoomRange(parsing: "13-14")).source.addresses.count == 2)
        let none = #expect(throws: TilesetsError.self) {
            try narrow.narrowed(
                to: TileMask(tiles: [try #require(TileID("14/0/0"))], maxZoom: 14), zooms: ZoomRange(parsing: "13-14"))
        }
        #expect(none?.message.contains("none of its archives") == true)
    }

    /// By their count: a list of all tiles of zoom 16 would take hundreds of gigabytes.
    @Test func aTemplateOfTooManyArchivesIsRefused() throws {
        let tileset = try Self.tileset("id: a\narchives: [{url: \"{x}-{y}.pmtiles\", zoom: 16-18, cell_zoom: 16}]")
        let error = #expect(throws: TilesetsError.self) {
            try tileset.narrowed(to: TileMask(full: 18), zooms: ZoomRange(parsing: "16-18"))
        }
        #expect(error?.message.contains("4294967296 archives") == true)
    }

    @Test(arguments: [
        "0 /a", "0-12 /a b.pmtiles", "13-18@6 http://h/{x}-{y}", "13-18@6/33/22=615000000000 https://h/6-33-22.pmtiles",
    ])
    func theTextOfAnArchiveIsReadBack(_ text: String) throws {
        #expect(try #require(ArchivePart(text)).text == text)
    }

    @Test(arguments: [
        "", "0", "0-12", "x /a", "0@ /a", "0@6/64/0 /a", "0@31 /a", "0=-1 /a", "5-2 /a", "0@6/1 /a", "0-12 ",
    ])
    func otherTextsAreNone(_ text: String) { #expect(ArchivePart(text) == nil) }

    @Test(arguments: [
        ("archives: 5", "list"), ("archives: []", "list"), ("archives: [a.pmtiles]", "mapping"),
        ("archives: [{url: a.pmtiles}]", "needs url and zoom"), ("archives: [{zoom: 0}]", "needs url and zoom"),
        ("archives: [{url: a.pmtiles, zoom: 0-99}]", "zoom"), ("archives: [{url: a.pmtiles, zooms: 0}]", "zoom"),
        ("archives: [{url: \"{x}-{y}.pmtiles\", zoom: 7}]", "cell_zoom"),
        ("archives: [{url: a.pmtiles, zoom: 7, cell_zoom: 6}]", "{x} and {y}"),
        ("archives: [{url: \"{x}-{y}.pmtiles\", zoom: 3-7, cell_zoom: 6}]", "cannot have zoom 3"),
        ("archives: [{url: \"https://tiles.example.org/a.pmtiles\", zoom: 0}]", "contact"),
        ("archives: [{url: \"https://tile.openstreetmap.org/a.pmtiles\", zoom: 0}]", "forbids"),
        ("archives: [{url: \"s3://bucket\", zoom: 0}]", "s3://bucket/key"),
        ("url: a\narchives: [{url: a.pmtiles, zoom: 0}]", "both url and archives"), ("url: \"archives:\"", "one index"),
    ])
    func whatIsWrongIsNamed(_ text: String, _ words: String) {
        let error = #expect(throws: TilesetsError.self) { try Self.tileset(text) }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    /// As `download_urls.json` of Mapterhorn.
    private static let index = """
        {"version":"0.0.13","items":[
        {"name":"planet.pmtiles","url":"https://10.0.0.1/planet.pmtiles","md5sum":"ab","size":356000000000,
        "min_lon":-180,"min_lat":-85.0511287,"max_lon":180,"max_lat":85.0511287,"min_zoom":0,"max_zoom":12},
        {"name":"6-33-22.pmtiles","url":"6-33-22.pmtiles?v=1","size":615000000000,
        "min_lon":5.6,"min_lat":45,"max_lon":11.2,"max_lat":48.9,"min_zoom":13,"max_zoom":18}]}
        """

    @Test func anIndexBecomesItsArchives() throws {
        let found = try SourceMetadata(archiveIndex: Array(Self.index.utf8), from: "https://10.0.0.1/x/urls.json")
        #expect(
            found.archives.map(\.text) == [
                "0-12=356000000000 https://10.0.0.1/planet.pmtiles",
                "13-18@6/33/22=615000000000 https://10.0.0.1/x/6-33-22.pmtiles?v=1",
            ])
        let local = try SourceMetadata(
            archiveIndex: Array(#"[{"name":"a.pmtiles","min_zoom":0,"max_zoom":3}]"#.utf8), from: "/data/urls.json")
        #expect(local.archives.map(\.text) == ["0-3 /data/a.pmtiles"])
        var metadata = found
        metadata.format = .webp
        let tileset = try Self.file("archives: https://10.0.0.1/x/urls.json").resolved(metadata: metadata)
        #expect(tileset.source.scheme == .archives && tileset.source.addresses.count == 2)
    }

    @Test(arguments: [
        ("", "items"), ("{}", "items"), ("<html>", "items"), (#"{"items":[]}"#, "0 archives"),
        (#"{"items":[{}]}"#, "no url"),
        (#"{"items":[{"url":"a"}]}"#, "min_zoom"), (#"{"items":[{"url":"a","min_zoom":5,"max_zoom":2}]}"#, "min_zoom"),
        (#"{"items":[{"url":"a.pmtiles","min_zoom":1,"max_zoom":2,"min_lon":5}]}"#, "part of the world"),
        (#"{"items":[{"url":"a","min_zoom":-1,"max_zoom":1e300}]}"#, "min_zoom"),
    ])
    func aWrongIndexIsNamed(_ text: String, _ words: String) {
        let error = #expect(throws: TilesetsError.self) {
            try SourceMetadata(archiveIndex: Array(text.utf8), from: "https://10.0.0.1/urls.json")
        }
        #expect(error?.code == .badIndex && error?.message.contains(words) == true, "\(error?.message ?? "")")
    }
}
