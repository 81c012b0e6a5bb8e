import Foundation
import PackageFiles
import TileBodies
import Tiles

/// A map of a few cells of zoom 6: their ancestors, and two zooms below them.
struct TinyMap {
    let mask: TileMask
    let zooms = Self.zooms
    /// Cells with the number of the data in them; the others have data 1.
    var data: [TileID: Int] = [:]

    static let zooms = ZoomRange(min: 0, max: 8) ?? .all

    init(_ cells: [TileID]) {
        mask = TileMask(tiles: cells, maxZoom: 6).expanded(toZoom: Self.zooms.max)
    }

    /// A tile that a test names by its numbers.
    static func tile(_ zoom: Int, _ x: Int, _ y: Int) -> TileID {
        guard let tile = TileID(zoom: zoom, x: x, y: y) else { preconditionFailure("\(zoom)/\(x)/\(y) is no tile") }
        return tile
    }

    /// Writes a package; equal tiles of different packages are equal bytes.
    func write(to url: URL, name: String) throws {
        let rows = Array(mask.tiles(in: zooms)).sorted { ($0.zoom, $0.x, $0.tmsY) < ($1.zoom, $1.x, $1.tmsY) }
        _ = try BulkPackage.write(url) { package in
            for (number, tile) in rows.enumerated() {
                try body(tile).withUnsafeBytes { try package.add(body: $0, number: UInt32(number + 1)) }
                try package.add(zoom: tile.zoom, column: tile.x, row: tile.tmsY, number: UInt32(number + 1))
            }
            let bounds = mask.bounds ?? .world
            package.add(metadata: [
                ("name", name), ("format", "pbf"), ("minzoom", "\(zooms.min)"), ("maxzoom", "\(zooms.max)"),
                ("bounds", "\(bounds.west),\(bounds.south),\(bounds.east),\(bounds.north)"), ("type", "baselayer"),
                ("version", "1.0"), ("attribution", "© Test"),
                ("json", #"{"vector_layers":[{"id":"land","fields":{}}]}"#),
            ])
        }
    }

    func body(_ tile: TileID) -> [UInt8] {
        let number = data.first { $0.key.contains(tile) }?.value ?? 1
        return Self.body("data \(number)", tile)
    }

    /// A vector tile with one layer that names a text and the tile, and two kilobytes that do not compress.
    static func body(_ text: String, _ tile: TileID) -> [UInt8] {
        func field(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] { [number << 3 | 2, UInt8(bytes.count)] + bytes }
        // MVT 2.1: one point without tags; version 2 is the last field.
        let feature: [UInt8] = [0x18, 1] + field(4, [9, 50, 34])
        var state = UInt64(truncatingIfNeeded: tile.zoom << 40 | tile.x << 20 | tile.y) | 1
        var noise: [UInt8] = []
        for _ in 0..<24 {
            var value: [UInt8] = []
            for _ in 0..<80 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                value.append(UInt8(truncatingIfNeeded: state >> 56) & 0x3F + 0x20)
            }
            // A text that no feature uses: field 4 of a layer is a value, whose field 1 is a text.
            noise += field(4, field(1, value))
        }
        let layer =
            field(1, Array("\(text) \(tile)".utf8.prefix(60))) + field(2, feature) + noise + [
                0x28, 0x80, 0x20, 0x78, 2,
            ]
        return Gzip.compress([3 << 3 | 2] + varint(layer.count) + layer)
    }

    /// The same tile without a coding.
    static func plainBody(_ text: String, _ tile: TileID) throws -> [UInt8] {
        try BodyCoding.gzip.unpack(body(text, tile), limit: 1 << 20)
    }

    private static func varint(_ number: Int) -> [UInt8] {
        number < 0x80 ? [UInt8(number)] : [UInt8(number & 0x7F | 0x80)] + varint(number >> 7)
    }
}
