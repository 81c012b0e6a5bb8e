import Foundation
import GRDB
import PMTiles
import PackageFiles
import Packages
import Testing
import TextFormats
import TileBodies
import Tiles

/// MapLibre tiles, AVIF and heights in archives: read from every dialect, written in every format, verified.
struct NewTileFormatTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    /// A MapLibre tile with a layer of this name: one point.
    static func mlt(_ name: String = "layer1") -> [UInt8] {
        let body =
            [1, UInt8(name.utf8.count)] + Array(name.utf8)
            + [0x50, 2, 4, 28, 4] + Array("kind".utf8) + [2, 0x30, 2, 1, 1, 0, 0x13, 0x42, 2, 2, 0x1A, 0x54]
            + [2, 0x30, 2, 1, 1, 1, 0x10, 0, 1, 1, 97]
        return [UInt8(body.count)] + body
    }

    /// An AVIF without its pixels.
    static func avif(_ mark: UInt8 = 1) -> [UInt8] {
        func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
            [0, 0, 0, UInt8(content.count + 8)] + Array(type.utf8) + content
        }
        return box("ftyp", Array("avif".utf8) + [0, 0, 0, 0] + Array("mif1".utf8))
            + box("meta", [0, 0, 0, 0] + box("iloc", [0])) + box("mdat", [mark])
    }

    private func convert(_ file: URL, _ format: PackageFormat) throws -> URL {
        let target = scratch.file("\(UUID().uuidString).\(format.rawValue)")
        _ = try PackageExport.write(from: file, format: format, to: target)
        let report = try PackageVerify.run(target)
        #expect(report.isVerified, "\(format): \(report.problems)")
        return target
    }

    private func open(_ url: URL) throws -> any TileArchive {
        if try ArchiveKind.of(url) == .pmtiles { return try PMTilesArchive(path: url.path, ArchiveAccess()) }
        return try MBTilesArchive(path: url.path, ArchiveAccess())
    }

    private func rows(_ url: URL) throws -> [String: String] { try open(url).facts().rows }

    /// The words of martin, planetiler and MapLibre's own program; with a wrong one, and none, the bodies decide.
    ///
    /// Raw and as gzip.
    @Test(arguments: [
        "mlt", "application/vnd.maplibre-vector-tile", "application/vnd.maplibre-tile", "pbf", nil,
    ])
    func mltIsReadUnderEveryName(word: String?) throws {
        let tile = try #require(TileID(zoom: 1, x: 0, tmsY: 0))
        for (number, body) in [Self.mlt(), Gzip.compress(Self.mlt())].enumerated() {
            let file = scratch.file("\(number)\(UUID().uuidString).mbtiles")
            try foreignFile(
                file, [["name", "x"]] + (word.map { [["format", $0]] } ?? []),
                [(1, 0, 0, body), (1, 1, 0, Gzip.compress([]))])
            let target = try convert(file, .mbtiles)
            let rows = try rows(target)
            #expect(
                rows["format"] == "mlt" && rows["json"]?.contains(#"{"fields":{"kind":"String"},"id":"layer1""#) == true
            )
            let packed = try convert(target, .pmtiles)
            let header = try PMTilesArchive(path: packed.path, ArchiveAccess()).file.header
            #expect(header.tileType == 6 && header.tileCompression == PMTilesHeader.Compression.gzip)
            let back = try convert(packed, .mbtiles)
            for file in [target, packed, back] {
                let found = try open(file).find(tile).body
                #expect(found?.format == .mlt && found?.bytes == Gzip.compress(Self.mlt()), "\(file.lastPathComponent)")
            }
            #expect(try Data(contentsOf: back) == Data(contentsOf: target), "the way back gives the same bytes")
        }
    }

    /// CARTO's client takes what it does not know for a Mapbox vector tile.
    @Test func cartoPackagesHoldWhatTheirClientReads() throws {
        for (word, body) in [("mlt", Self.mlt()), ("avif", Self.avif())] {
            let file = scratch.file("\(word).mbtiles")
            try foreignFile(file, [["name", "x"], ["format", word]], [(1, 0, 0, body)])
            let target = scratch.file("\(word).carto.mbtiles")
            let error = #expect(throws: PackagesError.self) {
                try PackageExport.write(from: file, format: .carto, to: target)
            }
            #expect(error?.code == .unsupported && error?.message.contains("format \(word)") == true, "\(word)")
            #expect(error?.message.contains("Mapbox vector tile, PNG, JPEG, WebP") == true)
            #expect(error?.message.contains("\n") == false && !FileManager.default.fileExists(atPath: target.path))
        }
    }

    @Test func avifIsReadAndWritten() throws {
        let tile = try #require(TileID(zoom: 1, x: 0, tmsY: 0))
        for word in ["avif", "image/avif", "png", nil] {
            let file = scratch.file("\(UUID().uuidString).mbtiles")
            try foreignFile(
                file, [["name", "x"]] + (word.map { [["format", $0]] } ?? []), [(1, 0, 0, Self.avif())])
            let packed = try convert(try convert(file, .mbtiles), .pmtiles)
            #expect(try PMTilesArchive(path: packed.path, ArchiveAccess()).file.header.tileType == 5)
            let found = try open(try convert(packed, .mbtiles)).find(tile).body
            #expect(found?.format == .avif && found?.bytes == Self.avif())
        }
    }

    /// `encoding` and `tileSize` survive every way; the size is no row of its own.
    @Test func whatRenderersNeedForHeightsIsKept() throws {
        let metadata = PackageMetadata(
            name: "hills", format: .png, bounds: try BoundingBox(west: 0, south: 0, east: 1, north: 1))
        var dem = metadata
        (dem.encoding, dem.tileSize) = (.terrarium, 512)
        let zooms = try ZoomRange(parsing: "0-1")
        let written = try Dictionary(
            uniqueKeysWithValues: dem.rows(zooms: zooms, tilesHash: "x", foundLayers: nil).map { ($0.name, $0.value) })
        #expect(written["encoding"] == "terrarium" && written["json"] == #"{"tileSize":512}"#)
        let plain = try metadata.rows(zooms: zooms, tilesHash: "x", foundLayers: nil)
        #expect(!plain.contains { $0.name == "json" || $0.name == "encoding" }, "other packages keep their bytes")

        let file = scratch.file("dem.mbtiles")
        try foreignFile(
            file, [["name", "x"], ["format", "avif"], ["encoding", "mapbox"], ["json", #"{"tileSize":512}"#]],
            [(1, 0, 0, Self.avif())])
        for one in [
            try convert(file, .mbtiles), try convert(file, .pmtiles), try convert(convert(file, .pmtiles), .mbtiles),
        ] {
            let members = TileSourceMembers(rows: try rows(one), format: .avif)
            #expect(members.encoding == .mapbox && members.tileSize == 512)
            #expect(members.tileJSON == ["encoding": .string("mapbox"), "tileSize": .number(512)])
        }
    }

    @Test func aSourceOfAStyleIsCorrected() {
        func corrected(_ source: [String: JSONValue], _ rows: [String: String], _ format: TileFormat?) -> [String:
            JSONValue]
        {
            var source = source
            TileSourceMembers(rows: rows, format: format).correct(&source)
            return source
        }
        let vector: [String: JSONValue] = ["type": .string("vector")]
        #expect(corrected(vector, [:], .mlt)["encoding"] == .string("mlt"))
        #expect(corrected(["type": .string("vector"), "encoding": .string("mlt")], [:], .mvt) == vector)
        #expect(corrected(["encoding": .string("mlt")], [:], nil)["encoding"] == .string("mlt"), "nothing is known")
        let rows = ["encoding": "terrarium", "json": #"{"tileSize":256}"#]
        let dem = corrected(["type": .string("raster-dem"), "encoding": .string("mapbox")], rows, .png)
        #expect(dem["encoding"] == .string("terrarium") && dem["tileSize"] == .number(256))
        let raster = corrected(["type": .string("raster")], rows, .png)
        #expect(raster["encoding"] == nil && raster["tileSize"] == .number(256))
        for json in [
            "", "[]", #"{"tileSize":"512"}"#, #"{"tileSize":1e300}"#, #"{"tileSize":512.5}"#, #"{"tileSize":-1}"#,
        ] {
            #expect(TileSourceMembers(rows: ["json": json, "encoding": "x"], format: .png).tileJSON.isEmpty, "\(json)")
        }
    }
}
