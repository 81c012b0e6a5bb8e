import Foundation
import OfflineMaps
import PackageFiles
import TileBodies
import Tiles

/// Packages for measurements: one cell of zoom 7 each, with its ancestors and two zooms below it.
struct BenchMaps {
    let folder: URL
    let count: Int

    /// The bytes of a body, as vector tiles of towns have them.
    private static let bodyBytes = 3_900
    /// Cells side by side.
    private static let columns = 30

    /// The cell of a package.
    func cell(_ number: Int) throws -> TileID {
        guard let cell = TileID(zoom: 7, x: 40 + number % Self.columns, y: 40 + number / Self.columns % 60) else {
            throw CocoaError(.coderInvalidValue)
        }
        return cell
    }

    /// The tiles of a package, deepest zooms too.
    func tiles(_ number: Int, depth: Int = 2) throws -> [TileID] {
        let cell = try cell(number)
        let mask = TileMask(tiles: [cell], maxZoom: 7).expanded(toZoom: 7 + depth)
        return Array(mask.tiles(in: .all))
    }

    /// The tiles along a walk: a step to the next tile of zoom 9, and the tiles above it, from cell to cell.
    func walk(_ steps: Int) throws -> [TileID] {
        var tiles: [TileID] = []
        for step in 0..<steps {
            let number = step / 8 % count
            let cell = try cell(number)
            guard let tile = TileID(zoom: 9, x: cell.x << 2 + step % 4, y: cell.y << 2 + step / 4 % 4) else { continue }
            tiles.append(tile)
            if step % 4 == 0, let parent = tile.parent { tiles.append(parent) }
        }
        return tiles
    }

    /// Writes a package.
    ///
    /// - Parameter text: Goes into every body.
    func write(_ number: Int, depth: Int = 2, text: String, to url: URL) throws {
        let tiles = try tiles(number, depth: depth).sorted { ($0.zoom, $0.x, $0.tmsY) < ($1.zoom, $1.x, $1.tmsY) }
        let bounds = try cell(number).bounds
        _ = try BulkPackage.write(url) { package in
            for (place, tile) in tiles.enumerated() {
                try Self.body("\(text) \(tile)", seed: place).withUnsafeBytes {
                    try package.add(body: $0, number: UInt32(place + 1))
                }
                try package.add(zoom: tile.zoom, column: tile.x, row: tile.tmsY, number: UInt32(place + 1))
            }
            package.add(metadata: [
                ("name", text), ("format", "pbf"), ("minzoom", "0"), ("maxzoom", "\(7 + depth)"),
                ("bounds", "\(bounds.west),\(bounds.south),\(bounds.east),\(bounds.north)"), ("type", "baselayer"),
                ("version", "1.0"), ("json", #"{"vector_layers":[{"id":"land","fields":{}}]}"#),
            ])
        }
    }

    /// A vector tile with one layer, whose value does not compress.
    private static func body(_ text: String, seed: Int) -> [UInt8] {
        func field(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] {
            var length = bytes.count
            var size: [UInt8] = []
            while length >= 0x80 {
                size.append(UInt8(length & 0x7F) | 0x80)
                length >>= 7
            }
            return [number << 3 | 2] + size + [UInt8(length)] + bytes
        }
        var state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        let noise = (0..<bodyBytes * 4 / 3).map { _ -> UInt8 in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            // Letters: 6 of 8 bits do not compress.
            return UInt8(48 + state % 64)
        }
        // MVT 2.1: a point with one tag whose value is the noise; version 2 is the last field.
        let feature: [UInt8] = field(2, [0, 0]) + [0x18, 1] + field(4, [9, 50, 34])
        let layer =
            field(1, Array(text.utf8.prefix(60))) + field(2, feature) + field(3, Array("k".utf8))
            + field(4, field(1, noise)) + [0x28, 0x80, 0x20, 0x78, 2]
        return Gzip.compress(field(3, layer))
    }

    /// A store with the packages; it is filled by adopting files.
    func store(_ numbers: some Sequence<Int>) async throws -> MapStore {
        let options = StoreOptions(folder: folder.appending(path: "maps"), trust: .unsigned)
        let store = try await MapStore.open(options)
        await store.start()
        for number in numbers { try await adopt(number, text: "P\(number) 1", into: store) }
        return store
    }

    /// Takes a package into a store: an update where it is there already.
    func adopt(_ number: Int, depth: Int = 2, text: String, into store: MapStore) async throws {
        let file = folder.appending(path: "P\(number).mbtiles")
        try write(number, depth: depth, text: text, to: file)
        _ = try await store.adopt(file, as: .package("P\(number)"), by: .move)
    }
}
