import Foundation
import PackageFiles
import Packages
import Shards
import TestSupport
import Testing
import TileBodies
import Tiles

/// A folder of one test, removed with it.
final class Scratch {
    let folder: URL
    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "packhorse-packages-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    deinit { try? FileManager.default.removeItem(at: folder) }
    func file(_ name: String) -> URL { folder.appendingPathComponent(name) }
}

func bytes(_ url: URL) throws -> [UInt8] { [UInt8](try Data(contentsOf: url)) }

/// A vector tile with one layer "land", one point and one field "name", as gzip.
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
    return Gzip.compress(field(3, layer))
}

/// Letters and digits that compression cannot shorten by much.
func noise(_ count: Int, _ random: inout SplitMix) -> String {
    let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
    return String((0..<count).map { _ in letters[Int(random.next() & 63)] })
}

/// What is known about one tile; a `nil` body is an empty tile.
struct Sample: Hashable {
    let tile: TileID
    let body: [UInt8]?
}

/// A made-up map: a mask of an irregular area, and an answer for each of its tiles.
struct World {
    let mask: TileMask
    let zooms: ZoomRange
    let samples: [Sample]

    /// Two areas far apart at zoom 7, all their ancestors, and everything below them down to zoom 9.
    init(zooms text: String = "0-9", padding: Int = 0) throws {
        var random = SplitMix(state: 77)
        zooms = try ZoomRange(parsing: text)
        var seeds: [TileID] = []
        for (x, y) in [(60, 40), (61, 40), (61, 41), (62, 40), (70, 52), (70, 53), (71, 54)] {
            let seed = try #require(TileID(zoom: 7, x: x, y: y))
            for zoom in 7...9 {
                for column in 0..<1 << (zoom - 7) {
                    for row in 0..<1 << (zoom - 7) {
                        seeds.append(
                            try #require(TileID(zoom: zoom, x: x << (zoom - 7) + column, y: seed.y << (zoom - 7) + row))
                        )
                    }
                }
            }
        }
        mask = TileMask(tiles: seeds, maxZoom: 9)
        samples = mask.tiles(in: zooms).enumerated().map { index, tile in
            if index % 11 == 10 { return Sample(tile: tile, body: nil) }
            return Sample(
                tile: tile, body: vectorTile(index % 4 == 3 ? "ocean" : "tile \(tile) " + noise(padding, &random)))
        }
    }

    var spec: PackageSpec {
        get throws {
            PackageSpec(
                id: "demo", mask: mask, zooms: zooms,
                metadata: PackageMetadata(
                    name: "Demo", format: .mvt,
                    bounds: try BoundingBox(west: -11.25, south: 33.5, east: 22.5, north: 58.75), attribution: "© Demo",
                    vectorLayersJSON: #"[{"fields":{"name":"String"},"id":"land"}]"#))
        }
    }

    /// Spreads the tiles over shards with a generator's help.
    func shards(_ count: Int, in scratch: Scratch, seed: UInt64, of tiles: [Sample]? = nil) throws -> [MergeInput] {
        var random = SplitMix(state: seed)
        let tiles = (tiles ?? samples).shuffled(using: &random)
        return try (0..<count).map { number in
            let url = scratch.file("shard-\(seed)-\(count)-\(number)")
            let header = ShardHeader(tileset: "demo", cell: .root, zooms: try ZoomRange(parsing: "0-22"))
            let writer = try ShardWriter(temporary: url, header: header)
            for index in stride(from: number, to: tiles.count, by: count) {
                if let body = tiles[index].body {
                    try writer.add(tiles[index].tile, body: body, etag: nil, lastModified: nil)
                } else {
                    try writer.addEmpty(tiles[index].tile)
                }
            }
            let summary = try writer.finish()
            return MergeInput(url: url, digest: summary.digest, footerDigest: summary.footerDigest)
        }.shuffled(using: &random)
    }
}
