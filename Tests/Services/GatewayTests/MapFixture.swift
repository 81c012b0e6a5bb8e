import Catalog
import CatalogFormat
import Digests
import Files
import Foundation
import GRDB
import PackageFiles
import Packages
import StyleFormat
import TileBodies
import Tiles

/// A small map: its mask, and a body for each tile but some.
struct SmallMap {
    let mask: TileMask
    let zooms: ZoomRange
    /// By tile; tiles of the mask that are not here are empty.
    var bodies: [TileID: [UInt8]]
    /// The row of its metadata.
    var bounds = "24,59,25,60"
    /// Rows of its metadata in place of the usual ones.
    var rows: [String: String] = [:]

    /// Everything below one tile, down to some zoom, with its ancestors.
    init(_ seed: TileID, maxZoom: Int, name: String) throws {
        mask = TileMask(tiles: [seed], maxZoom: seed.zoom).expanded(toZoom: maxZoom)
        zooms = try ZoomRange(parsing: "0-\(maxZoom)")
        var bodies: [TileID: [UInt8]] = [:]
        for (index, tile) in mask.tiles(in: zooms).enumerated() where index % 5 != 4 {
            bodies[tile] = Self.body("\(name) \(tile)")
        }
        self.bodies = bodies
    }

    /// A vector tile with a layer "land", a point, and its name (Mapbox Vector Tile 2.1), as gzip.
    static func body(_ name: String) -> [UInt8] {
        func field(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] { [number << 3 | 2, UInt8(bytes.count)] + bytes }
        let feature = field(2, [0, 0]) + [0x18, 1] + field(4, [9, 50, 34])
        let layer =
            field(1, Array("land".utf8)) + field(2, feature) + field(3, Array("name".utf8))
            + field(4, field(1, Array(name.utf8))) + [0x28, 0x80, 0x20, 0x78, 2]
        return Gzip.compress(field(3, layer))
    }

    /// The map as an MBTiles file.
    func write(_ url: URL) throws {
        let queue = try DatabaseQueue(path: url.path)
        try queue.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE metadata (name TEXT PRIMARY KEY, value TEXT);
                    CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB,
                        UNIQUE (zoom_level, tile_column, tile_row));
                    """)
            for (name, value) in [
                ("name", "Small map"), ("format", "pbf"), ("bounds", bounds), ("center", "24.5,59.5,6"),
                ("minzoom", "\(zooms.min)"), ("maxzoom", "\(zooms.max)"), ("attribution", "© test"),
                ("json", "{\"vector_layers\":[{\"id\":\"land\",\"fields\":{\"name\":\"String\"}}]}"),
            ] where rows[name] == nil {
                try database.execute(sql: "INSERT INTO metadata VALUES (?, ?)", arguments: [name, value])
            }
            for (name, value) in rows {
                try database.execute(sql: "INSERT INTO metadata VALUES (?, ?)", arguments: [name, value])
            }
            for (tile, body) in bodies {
                try database.execute(
                    sql: "INSERT INTO tiles VALUES (?, ?, ?, ?)", arguments: [tile.zoom, tile.x, tile.tmsY, Data(body)])
            }
        }
        try queue.close()
    }
}

extension Catalog {
    /// Publishes a map as MBTiles, and as PMTiles too.
    func publish(
        _ id: String, _ map: SmallMap, in folder: URL, tileset: String = "streets", dataDate: String? = nil,
        withPMTiles: Bool = true, edition: CatalogEdition = .main
    ) throws {
        let main = folder.appendingPathComponent("map-\(UUID().uuidString).mbtiles")
        try map.write(main)
        var files: [PublishFile] = []
        if withPMTiles {
            let other = main.deletingPathExtension().appendingPathExtension("pmtiles")
            _ = try PackageExport.write(from: main, format: .pmtiles, to: other)
            let (digest, size) = try Digest.ofFile(other)
            files = [PublishFile(format: "pmtiles", fileExtension: ".pmtiles", url: other, digest: digest, size: size)]
        }
        try publish(
            id, [UInt8](try Data(contentsOf: main)), in: folder, mask: map.mask.cartoWire, zooms: map.zooms,
            tileset: tileset, dataDate: dataDate, edition: edition, files: files)
    }

    /// Publishes a map as PMTiles alone.
    func publishPMTiles(_ id: String, _ map: SmallMap, in folder: URL, tileset: String = "streets") throws {
        let main = folder.appendingPathComponent("map-\(UUID().uuidString).mbtiles")
        try map.write(main)
        let file = main.deletingPathExtension().appendingPathExtension("pmtiles")
        _ = try PackageExport.write(from: main, format: .pmtiles, to: file)
        let (digest, size) = try Digest.ofFile(file)
        var request = PublishRequest(
            id: id, file: file, digest: digest, size: size, maskWire: map.mask.cartoWire, names: ["en": id],
            tilesHash: "")
        (request.format, request.zooms, request.tileset) = ("pmtiles", map.zooms, tileset)
        _ = try publish(request)
    }

    /// Publishes a style pack with one vector source, glyphs and a sprite.
    func publishStyle(_ id: String, source: String, in folder: URL) throws {
        let pack = folder.appendingPathComponent("style-\(UUID().uuidString)")
        let files: [(String, String)] = [
            (
                "style.json",
                """
                {"version":8,"name":"Test","glyphs":"glyphs/{fontstack}/{range}.pbf","sprite":"sprites/default/sprite",
                "sources":{"\(source)":{"type":"vector","url":"sources/\(source).json"},
                "places":{"type":"geojson","data":"data/places.geojson"}},"layers":[]}
                """
            ), ("glyphs/Noto Sans/0-255.pbf", "glyphs"), ("glyphs/Odd%2FName/0-255.pbf", "odd"),
            ("sprites/default/sprite.json", "{}"), ("sprites/default/sprite.png", "picture"),
            ("data/places.geojson", "{\"type\":\"FeatureCollection\",\"features\":[]}"),
        ]
        for (name, text) in files {
            let file = pack.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        let archive = folder.appendingPathComponent("\(UUID().uuidString).zip")
        try StoredZip.write(files.map(\.0), of: pack, to: archive)
        let (digest, size) = try Digest.ofFile(archive)
        try publish(style: id, name: "Test", file: archive, digest: digest, size: size)
    }
}
