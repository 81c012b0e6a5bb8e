import Foundation
import GRDB
import PackageFiles
import Packages
import Styles
import TestSupport
import Testing
import TileBodies
import Tiles

@testable import OfflineDatabase

/// A folder of one test, removed with it.
final class Scratch {
    let folder: URL
    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("packhorse-offline-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    deinit { try? FileManager.default.removeItem(at: folder) }
    func url(_ name: String) -> URL { folder.appendingPathComponent(name) }
}

/// A vector tile with one layer "land", one point and one field "name", unpacked.
func vectorTile(_ name: String) -> [UInt8] {
    func length(_ count: Int) -> [UInt8] {
        count < 128 ? [UInt8(count)] : [UInt8(count & 127 | 128), UInt8(count >> 7)]
    }
    func field(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] { [number << 3 | 2] + length(bytes.count) + bytes }
    // MVT 2.1: feature { tags [0, 0], type POINT, geometry MoveTo(1) 25 17 }
    let feature = field(2, [0, 0]) + [0x18, 1] + field(4, [9, 50, 34])
    let layer =
        field(1, Array("land".utf8)) + field(2, feature) + field(3, Array("name".utf8))
        + field(4, field(1, Array(name.utf8))) + [0x28, 0x80, 0x20, 0x78, 2]
    return field(3, layer)
}

/// One grey pixel as a PNG.
let pixel = SamplePictures.pixel

/// A style pack of a served style, and MBTiles files made of lists of tiles.
struct Fixture {
    static let glyphs: [UInt8] = [0x0A, 3, 0x0A, 1, 0x41]
    let scratch: Scratch
    let address: String

    /// Serves and packs a style with one vector source, a plain sprite and two glyph ranges of one font; then stops.
    init(tileJSON: String = #""minzoom": 0, "maxzoom": 14"#, sources: String = "", layers: String = "") async throws {
        let scratch = try Scratch()
        let server = try ScriptedServer { request in
            switch request.path {
            case "/style.json":
                let style = """
                    {"version": 8, "name": "Test", "sprite": "sprite", "glyphs": "/f/{fontstack}/{range}.pbf",
                     "sources": {"map": {"type": "vector", "url": "map.json"}\(sources)},
                     "layers": [{"id": "a", "type": "symbol", "source": "map", "source-layer": "land",
                                 "layout": {"text-field": "{name}", "text-font": ["A B", "C"]}}\(layers)]}
                    """
                return .reply(200, headers: [("ETag", "\"style\"")], body: Array(style.utf8))
            case "/map.json":
                return .reply(
                    200, headers: [("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT")],
                    body: Array(#"{"tiles": ["t/{z}/{x}/{y}.pbf", "no"], \#(tileJSON)}"#.utf8))
            case "/sprite.json": return .reply(200, body: Array(#"{"dot": {"x": 0}}"#.utf8))
            case "/sprite.png": return .reply(200, body: pixel)
            case "/f/A%20B%2cC/0-255.pbf", "/f/A%20B%2cC/256-511.pbf": return .reply(200, body: Self.glyphs)
            default: return .reply(404)
            }
        }
        defer { server.stop() }
        address = server.url
        self.scratch = scratch
        _ = try await StylePackCollector.collect(
            StyleLocation(address: "\(server.url)/style.json"), into: scratch.url("style"))
    }

    /// The tiles of a shape and all above them.
    static func tiles(_ zoom: Int, _ places: [(Int, Int)], from least: Int = 0) -> [TileID] {
        var all: Set<TileID> = []
        for (x, y) in places {
            guard let tile = TileID(zoom: zoom, x: x, y: y) else { continue }
            for zoom in least...zoom { if let above = tile.ancestor(atZoom: zoom) { all.insert(above) } }
        }
        return Array(all)
    }

    /// Three by three tiles at zoom 6, and all above them.
    static let square = tiles(6, (32...34).flatMap { x in (20...22).map { (x, $0) } })

    /// An MBTiles file of these tiles; vector tiles say where they are.
    func package(
        _ name: String, _ tiles: [TileID], format: TileFormat = .mvt, body: ((TileID) -> [UInt8])? = nil
    ) throws -> URL {
        let url = scratch.url(name)
        let queue = try DatabaseQueue(path: url.path)
        try queue.write { (database) throws in
            try database.execute(sql: "CREATE TABLE metadata (name TEXT, value TEXT)")
            try database.execute(
                sql: "INSERT INTO metadata VALUES ('name', 'Test map'), ('format', '\(format.rawValue)')")
            try database.execute(
                sql: """
                    CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB,
                    PRIMARY KEY (zoom_level, tile_column, tile_row))
                    """)
            for tile in tiles.sorted() {
                let bytes = body?(tile) ?? (format == .mvt ? Gzip.compress(vectorTile("tile \(tile)")) : pixel)
                try database.execute(
                    sql: "INSERT INTO tiles VALUES (?, ?, ?, ?)",
                    arguments: [tile.zoom, tile.x, tile.tmsY, Data(bytes)])
            }
        }
        try queue.close()
        return url
    }

    /// Exports one file.
    @discardableResult
    func export(
        _ tiles: [URL], to name: String = "out.maplibre.db", _ change: (inout OfflineOptions) -> Void = { _ in }
    ) throws -> (url: URL, receipt: ExportReceipt) {
        var options = OfflineOptions()
        change(&options)
        let url = scratch.url(name)
        let receipt = try OfflineDatabaseExport.write(
            from: tiles.map { OfflineTiles($0) }, stylePack: scratch.url("style"), to: url, options: options)
        return (url, receipt)
    }
}

/// Reads a database with a connection of its own.
func query<Value>(_ url: URL, _ body: (Database) throws -> Value) throws -> Value {
    var configuration = Configuration()
    configuration.readonly = true
    let queue = try DatabaseQueue(path: url.path, configuration: configuration)
    defer { try? queue.close() }
    return try queue.read(body)
}
