import Errors
import Foundation
import Testing
import TileBodies
import Tiles

@testable import Tilesets

/// The table of sources: each row is known wherever a source is named.
struct SourceSchemeTests {
    /// A text of each scheme, and the address that it stands for.
    private func example(_ scheme: SourceScheme) -> (text: String, address: String) {
        switch scheme {
        case .templates: ("http://localhost/{z}/{x}/{y}.pbf", "http://localhost/{z}/{x}/{y}.pbf")
        case .remotePMTiles: ("pmtiles:http://localhost/planet", "http://localhost/planet")
        case .mbtiles: ("mbtiles:a.mbtiles", "/maps/a.mbtiles")
        case .pmtiles: ("pmtiles:a.pmtiles", "/maps/a.pmtiles")
        case .wmts: ("wmts:http://localhost/wmts#roads", "http://localhost/wmts#roads")
        case .arcGIS: ("http://localhost/rest/services/a/MapServer", "http://localhost/rest/services/a/MapServer")
        // Has a key of its own, no address.
        case .archives: ("", "")
        case .archiveIndex: ("archives:urls.json", "/maps/urls.json")
        case .latest:
            ("latest:http://localhost/{date}.pmtiles", LatestSource(.date, at: "http://localhost/{date}.pmtiles").text)
        case .tileJSON: ("http://localhost/tiles.json", "http://localhost/tiles.json")
        }
    }

    @Test(arguments: SourceScheme.allCases.filter { $0.row.words != nil })
    func aSchemeIsKnownEverywhere(_ scheme: SourceScheme) throws {
        let (text, address) = example(scheme)
        #expect(SourceScheme.isAddress(text) && SourceScheme.isAddress(text.uppercased()))
        let file = try TilesetFile(source: text, folder: URL(fileURLWithPath: "/maps"))
        #expect(file.source == TileSource(scheme, address))
        #expect((file.source.path == nil) == (scheme.row.target != .file))
        var metadata = SourceMetadata()
        (metadata.format, metadata.templates) = (.mvt, ["http://localhost/{z}/{x}/{y}.pbf"])
        // Only an index names archives; they come before templates.
        if scheme == .archiveIndex { metadata.archives = try [#require(ArchivePart("0-5 /maps/a.pmtiles"))] }
        let tileset = try file.resolved(metadata: metadata)
        #expect(try Tileset(canonicalJSON: tileset.canonicalJSON).canonicalJSON == tileset.canonicalJSON)
        // A worker gets what the coordinator got: a document is read before.
        let read: SourceScheme = scheme == .archiveIndex ? .archives : .templates
        #expect(tileset.source.scheme == (scheme.row.key == nil ? read : scheme))
        #expect((tileset.originName == nil) == (scheme.row.target == .file || scheme == .archiveIndex))
        let key = try #require(TilesetKey.all.first { $0.name == "url" })
        let words = try #require(scheme.row.words)
        #expect(key.meaning.contains(words), "\(key.meaning)")
        let missing = #expect(throws: TilesetsError.self) {
            try TilesetFile(text: "zoom: 3", name: "t", folder: URL(fileURLWithPath: "/"))
        }
        #expect(missing?.message.contains(words) == true, "\(missing?.message ?? "")")
    }

    @Test func aCanonicalFormHasTheMembersOfOneScheme() throws {
        let one = try TilesetFile(source: "mbtiles:/a.mbtiles", folder: URL(fileURLWithPath: "/"))
        var metadata = SourceMetadata()
        metadata.format = .mvt
        let text = String(decoding: try one.resolved(metadata: metadata).canonicalJSON, as: UTF8.self)
        for wrong in [
            text.replacing("\"mbtiles\"", with: "\"unknown\""),
            text.replacing("{\"concurrency\"", with: "{\"pmtiles\":\"/a.pmtiles\",\"concurrency\""),
        ] {
            let error = #expect(throws: TilesetsError.self) { try Tileset(canonicalJSON: Array(wrong.utf8)) }
            #expect(error?.message.contains("no single source") == true, "\(error?.message ?? "")")
        }
        #expect(!SourceScheme.isAddress("tiles.yaml") && !SourceScheme.isAddress("C:\\tiles.yaml"))
    }

    @Test(arguments: [
        ("地図.mbtiles", "u5730-u56f3"), ("地図-tokyo.mbtiles", "tokyo"), ("---.pmtiles", "u2d-u2d-u2d"),
        ("my maps.mbtiles", "my-maps"), ("a.b_c-d.pmtiles", "a.b_c-d"),
    ])
    func aFileGivesAUsableID(name: String, id: String) throws {
        let folder = URL(fileURLWithPath: "/maps")
        var metadata = SourceMetadata()
        metadata.format = .png
        let kind = name.hasSuffix("mbtiles") ? "mbtiles:" : "pmtiles:"
        #expect(try TilesetFile(source: kind + name, folder: folder).resolved(metadata: metadata).id == id)
        let text = "url: http://localhost/{z}/{x}/{y}.png"
        let file = try TilesetFile(text: text, name: "\(name.prefix { $0 != "." }).yaml", folder: folder)
        #expect(try file.resolved().id.isEmpty == false)
    }

    /// Addresses as people copy them from a browser.
    @Test(arguments: [
        ("http://localhost/wms?SERVICE=WMS&request=GetCapabilities", "bbox={bbox-epsg-3857}"),
        (
            "http://localhost/wms?service=WMS&request=GetMap&layers=a&bbox=1,2,3,4&format=image/png",
            "bbox={bbox-epsg-3857}"
        ),
        ("http://localhost/wms?request=getmap&layers=a", "bbox={bbox-epsg-3857}"),
        ("http://localhost/wmts?Service=wmts&Request=GetCapabilities", "wmts: before it"),
        ("http://localhost/wmts/1.0.0/WMTSCapabilities.xml", "wmts: before it"),
    ])
    func theAddressOfAMapServiceIsNoTileJSON(text: String, words: String) {
        let error = #expect(throws: TilesetsError.self) {
            try TilesetFile(source: text, folder: URL(fileURLWithPath: "/"))
        }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test func aTilesetFileMayBeUTF16() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "packhorse-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = "url: http://localhost/{z}/{x}/{y}.png\nname: Größe\n"
        for (mark, encoding) in [
            ("\u{FEFF}", String.Encoding.utf16LittleEndian), ("\u{FEFF}", .utf16BigEndian), ("", .utf16LittleEndian),
            ("\u{FEFF}", .utf8),
        ] {
            let file = folder.appending(path: "t.yaml")
            try #require((mark + text).data(using: encoding)).write(to: file)
            #expect(try TilesetFile.read(file).resolved().name == "Größe", "\(encoding)")
        }
    }
}
