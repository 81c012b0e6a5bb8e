import Digests
import Files
import Foundation
import StyleFormat
import Testing
import TextFormats

@testable import OfflineMaps

/// A style pack as the builder makes it, as a unit of a store.
struct StyleScratch {
    /// The addresses of a small style.
    static let files: [(url: String, kind: StyleResource.Kind, path: String?, text: String?)] = [
        (
            "https://maps.example.com/style.json", .style, "style.original.json",
            """
            {"version":8,"sources":{"map":{"type":"vector","url":"tiles.json"},
            "hills":{"type":"raster-dem","tiles":["https://h.example.com/{z}/{x}/{y}.png"],"tileSize":256},
            "points":{"type":"geojson","data":"/points.geojson"}},"sprite":"sprite?key=1",
            "glyphs":"fonts/{fontstack}/{range}.pbf","layers":[]}
            """
        ),
        (
            "https://maps.example.com/tiles.json", .source, "sources/map.json",
            #"{"tiles":["https://t.example.com/{z}/{x}/{y}.pbf"],"minzoom":0,"maxzoom":14,"attribution":"A"}"#
        ),
        ("https://maps.example.com/fonts/Open%20Sans/0-255.pbf", .glyphs, "glyphs/Open Sans/0-255.pbf", "glyphs"),
        ("https://maps.example.com/sprite.json?key=1", .spriteJSON, "sprites/default/sprite.json", "{}"),
        ("https://maps.example.com/sprite.png?key=1", .spriteImage, "sprites/default/sprite.png", "png"),
        ("https://maps.example.com/points.geojson", .data, "data/points.geojson", "{}"),
    ]

    let unit: InstalledFile
    let folder: URL

    init(_ scratch: StoreScratch) throws {
        let sha = String(repeating: "a", count: 64)
        let home = scratch.folder.unit(.style, Edition(), id: "streets", version: 1, sha256: sha)
        folder = home.appending(path: "pack", directoryHint: .isDirectory)
        var entries: [StylePackIndex.Entry] = []
        for file in Self.files {
            let bytes = Array((file.text ?? "").utf8)
            if let path = file.path { try PackFile.write(bytes, to: folder.appending(path: path)) }
            entries.append(
                StylePackIndex.Entry(
                    url: file.url, kind: file.kind, path: file.path, size: UInt64(bytes.count),
                    sha256: file.path == nil ? nil : Digest(of: bytes).hex, etag: nil, modified: nil))
        }
        let index = StylePackIndex(
            name: "Streets", style: Self.files[0].url, choice: StyleChoice(), rewritten: Digest(of: [UInt8]()),
            entries: entries)
        try PackFile.write(try index.encoded(), to: folder.appending(path: "style-pack.json"))
        unit = InstalledFile(
            .style("streets"), 1, sha, path: try #require(scratch.folder.relative(home.appending(path: "style.zip"))),
            format: .opaque)
    }
}

/// A JSON document of a test, read member by member.
struct JSONReading {
    let value: JSONValue?

    init(_ data: Data) { value = JSONValue(json: [UInt8](data)) }
    private init(_ value: JSONValue?) { self.value = value }

    subscript(_ name: String) -> JSONReading {
        if case .object(let members)? = value { JSONReading(members[name]) } else { JSONReading(nil) }
    }
    var text: String? { if case .string(let text)? = value { text } else { nil } }
    var number: Double? { if case .number(let number)? = value { number } else { nil } }
    var texts: [String]? {
        guard case .array(let list)? = value else { return nil }
        return list.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }
}
