import Errors
import Foundation
import Testing
import TileBodies
import Tiles

@testable import Tilesets

/// Keys about what tiles are: vector tiles of MapLibre, heights, sizes.
struct FormatKeyTests {
    private static func resolved(_ text: String, _ metadata: SourceMetadata? = nil) throws -> Tileset {
        try TilesetFile(text: text, name: "t.yaml", folder: URL(fileURLWithPath: "/")).resolved(metadata: metadata)
    }

    @Test func mltAndAVIFAreFormats() throws {
        let base = "url: http://localhost/{z}/{x}/{y}"
        for (text, format) in [
            ("\(base).mlt", TileFormat.mlt), ("\(base)\nformat: application/vnd.maplibre-vector-tile", .mlt),
            ("\(base).avif", .avif), ("\(base)\nformat: image/avif", .avif),
        ] {
            let tileset = try Self.resolved(text)
            #expect(tileset.format == format && tileset.sourceEncoding == (format == .mlt ? "mlt" : nil))
        }
        let error = #expect(throws: TilesetsError.self) { try Self.resolved("\(base).mlt\nlayers: [water]") }
        for words in ["mlt", "MapLibre tile", "layers"] { #expect(error?.message.contains(words) == true) }
        let picture = #expect(throws: TilesetsError.self) { try Self.resolved("\(base).avif\nlayers: [water]") }
        #expect(picture?.message.contains("avif") == true)
    }

    /// The member decides, whatever the addresses end in.
    @Test(arguments: [".pbf", "", ".mlt"]) func tileJSONSaysMLTByItsEncoding(_ ending: String) throws {
        let text = #"{"tiles":["http://localhost/{z}/{x}/{y}\#(ending)"],"encoding":"mlt","vector_layers":[]}"#
        #expect(try SourceMetadata(tileJSON: Array(text.utf8), from: "http://localhost/t.json").format == .mlt)
    }

    @Test func heightsComeFromTheSourceOrTheFile() throws {
        let text = #"{"tiles":["http://localhost/{z}/{x}/{y}.webp"],"encoding":"terrarium","tileSize":512,"maxzoom":3}"#
        let found = try SourceMetadata(tileJSON: Array(text.utf8), from: "http://localhost/t.json")
        #expect(found.encoding == .terrarium && found.tileSize == 512 && found.format == .webp)
        let tileset = try Self.resolved("url: http://localhost/t.json", found)
        #expect(tileset.encoding == .terrarium && tileset.tileSize == 512 && tileset.sourceEncoding == "terrarium")
        // The size of the source is the one at which tiles are shown; only that of the file refuses pictures.
        #expect(tileset.isTileSizeChecked == nil && tileset.pictures == PictureRule(side: nil, isLossless: true))
        let other = try Self.resolved("url: http://localhost/t.json\nencoding: mapbox\ntile_size: 256", found)
        #expect(other.encoding == .mapbox && other.tileSize == 256)
        #expect(other.isTileSizeChecked == true && other.pictures == PictureRule(side: 256, isLossless: true))
        for tileset in [tileset, other] {
            let received = try Tileset(canonicalJSON: tileset.canonicalJSON)
            #expect(received.isTileSizeChecked == tileset.isTileSizeChecked && received.pictures == tileset.pictures)
        }
        let form = String(decoding: other.canonicalJSON, as: UTF8.self)
        #expect(form.contains(#""isTileSizeChecked":true"#) && form.contains(#""tileSize":256"#), "\(form)")
        var strange = SourceMetadata()
        strange.merge(metadataJSON: Array(#"{"encoding":"mvt","tileSize":"512"}"#.utf8))
        #expect(strange.encoding == nil && strange.tileSize == nil)
    }

    @Test(arguments: [
        ("encoding: terrain", "terrarium or mapbox"), ("encoding: mlt", "format: mlt"),
        ("tile_size: 300", "256 or 512"),
        ("tile_size: big", "whole number"), ("encoding: mapbox\nformat: jpg", "without loss"),
        ("encoding: mapbox\nformat: avif", "without loss"), ("encoding: mapbox\nformat: pbf", "pictures"),
        ("tile_size: 512\nformat: mlt", "pictures"),
    ])
    func whatIsWrongIsNamed(_ text: String, _ words: String) {
        let format = text.contains("format") ? "" : "\nformat: png"
        let error = #expect(throws: TilesetsError.self) {
            try Self.resolved("url: http://localhost/{z}/{x}/{y}\n\(text)\(format)")
        }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    /// The command asks for at most zoom 14 where nobody says how deep the source is.
    @Test func itIsKnownWhetherTheZoomsAreSaid() throws {
        #expect(try !Self.resolved("url: http://localhost/{z}/{x}/{y}.png").saysZooms)
        #expect(try Self.resolved("url: http://localhost/{z}/{x}/{y}.png\nzoom: 0-18").saysZooms)
        var metadata = SourceMetadata()
        (metadata.format, metadata.zooms) = (.png, .all)
        #expect(try Self.resolved("url: pmtiles:/a.pmtiles", metadata).saysZooms)
    }
}
