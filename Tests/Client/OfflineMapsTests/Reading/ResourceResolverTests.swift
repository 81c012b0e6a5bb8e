import Digests
import Files
import Foundation
import StyleFormat
import Testing
import Tiles

@testable import OfflineMaps

/// Resources of installed units, by the addresses of a style.
struct ResourceResolverTests {
    private let scratch: StoreScratch
    private let archive: URL
    private let map: InstalledFile

    static let files: [(url: String, kind: StyleResource.Kind, text: String?)] = [
        ("https://maps.example.com/style.json", .style, #"{"version":8,"sources":{},"layers":[]}"#),
        ("https://maps.example.com/tiles.json", .source, #"{"tiles":["https://t.example.com/{z}/{x}/{y}.pbf"]}"#),
        ("https://maps.example.com/fonts/Open%20Sans/0-255.pbf", .glyphs, "glyphs"),
        ("https://maps.example.com/fonts/Open%20Sans/256-511.pbf", .glyphs, nil),
        ("https://maps.example.com/sprite.json", .spriteJSON, "{}"),
        ("https://maps.example.com/sprite.png", .spriteImage, "png"),
    ]

    /// A store with a style pack as an archive.
    init() throws {
        scratch = try StoreScratch()
        var map = try scratch.unit("EE", without: [try #require(TileID(zoom: 8, x: 144, y: 75))])
        map.template = "https://t.example.com/{z}/{x}/{y}.pbf"
        self.map = map
        let pack = scratch.url.appending(path: "made", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: pack, withIntermediateDirectories: true)
        let entries = try Self.files.enumerated().map { number, file in
            let path = file.text.map { _ in "file-\(number)" }
            let bytes = Array((file.text ?? "").utf8)
            if let path { try Data(bytes).write(to: pack.appending(path: path)) }
            return StylePackIndex.Entry(
                url: file.url, kind: file.kind, path: path, size: UInt64(bytes.count),
                sha256: path == nil ? nil : Digest(of: bytes).hex, etag: "\"\(number)\"", modified: nil)
        }
        let index = StylePackIndex(
            name: "Streets", style: Self.files[0].url, choice: StyleChoice(ideographs: false),
            rewritten: Digest(of: Array("".utf8)), entries: entries)
        try Data(try index.encoded()).write(to: pack.appending(path: "style-pack.json"))
        let folder = scratch.folder.unit(
            .style, Edition(), id: "streets", version: 1, sha256: String(repeating: "a", count: 64))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        archive = folder.appending(path: "style.zip")
        try StoredZip.write(entries.compactMap(\.path) + ["style-pack.json"], of: pack, to: archive)
    }

    private func resolver() throws -> ResourceResolver {
        let style = InstalledFile(
            .style("streets"), path: try #require(scratch.folder.relative(archive)), format: .opaque)
        let reader = TileReader(scratch.folder, [map])
        return try ResourceResolver(scratch.folder, [map, style], tiles: reader)
    }

    private func get(_ resolver: ResourceResolver, _ address: String) throws -> Resource? {
        try resolver.resource(try #require(URL(string: address)))
    }

    @Test func everythingOfAStyleIsFound() throws {
        let resolver = try resolver()
        for (number, file) in Self.files.enumerated() {
            let found = try #require(try get(resolver, file.url))
            #expect(found.body == Data((file.text ?? "").utf8))
            #expect(found.isEmpty == (file.text == nil) && found.etag == "\"\(number)\"" && !found.isStale)
        }
        #expect(try get(resolver, Self.files[1].url)?.mediaType == "application/json")
        #expect(try get(resolver, Self.files[2].url)?.mediaType == "application/x-protobuf")
        #expect(try get(resolver, "https://maps.example.com/other.json") == nil)
        // The pack stays unpacked: a second resolver opens it.
        try FileManager.default.removeItem(at: archive)
        #expect(try get(try self.resolver(), Self.files[4].url)?.body == Data("{}".utf8))
    }

    @Test func tilesAreFoundByTheirTemplate() throws {
        let resolver = try resolver()
        let found = try #require(try get(resolver, "https://t.example.com/7/72/37.pbf"))
        #expect(found.coding == .gzip && found.mediaType == "application/vnd.mapbox-vector-tile" && !found.isEmpty)
        #expect([UInt8](found.body) == TestMap.body("EE 1", try #require(TileID(zoom: 7, x: 72, y: 37))))
        #expect(try get(resolver, "https://t.example.com/8/144/75.pbf")?.isEmpty == true)
        #expect(try get(resolver, "https://t.example.com/7/0/0.pbf") == nil)
    }

    @Test func damagedStylesAreNamed() throws {
        let resolver = try resolver()
        let file = archive.deletingLastPathComponent().appending(path: "pack/file-2")
        try Data("glyphz".utf8).write(to: file)
        let error = #expect(throws: StoreError.self) { try get(resolver, Self.files[2].url) }
        #expect(error?.code == .damaged)
        try FileManager.default.removeItem(at: file.deletingLastPathComponent())
        try Data("no archive".utf8).write(to: archive)
        #expect(throws: StoreError.self) { try self.resolver() }
    }

    @Test(
        arguments: [
            ("https://t/{z}/{x}/{y}.png", false, "https://t/3/1/2.png", "3/1/2"),
            ("https://t/{z}/{x}/{y}.png", true, "https://t/3/1/2.png", "3/1/5"),
            ("https://t/{z}/{x}/{-y}.png", false, "https://t/3/1/2.png", "3/1/5"),
            ("https://t/{z}/{x}/{y}{ratio}.png", false, "https://t/3/1/2@2x.png", "3/1/2"),
            ("https://t/{z}/{x}/{y}{r}.png?k={z}", false, "https://t/3/1/2.png?k=3", "3/1/2"),
            ("https://{s}.t/{z}/{x}/{y}.png", false, "https://b.t/3/1/2.png", "3/1/2"),
            ("https://{s}.t/{z}/{x}/{y}.png", false, "https://d.t/3/1/2.png", nil),
            ("https://t/{z}/{x}/{y}.png?k={z}", false, "https://t/3/1/2.png?k=4", nil),
            ("https://t/{z}/{x}/{y}.png", false, "https://t/3/8/2.png", nil),
            ("https://t/{z}/{x}/{y}.png", false, "https://t/3/1/2.png2", nil),
            ("https://t/{z}/{x}/{y}.png", false, "https://t/3/1/.png", nil),
            ("https://t/{z}/{x}/{y}.png", false, "https://t/3/99999999999999999999/2.png", nil),
        ] as [(String, Bool, String, String?)])
    func templatesNameTiles(_ template: String, _ isTMS: Bool, _ address: String, _ tile: String?) {
        #expect(TileTemplate(template, isTMS: isTMS)?.tile(address)?.description == tile)
    }

    @Test(arguments: ["https://t/{z}/{x}.png", "https://t/{z}{x}/{y}", "https://t/{quadkey}", "https://t/{z", ""])
    func otherTemplatesAreRefused(_ template: String) { #expect(TileTemplate(template) == nil) }
}
