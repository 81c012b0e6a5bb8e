import Foundation
import OfflineMaps
import PackageFiles
import TileBodies
import Tiles

/// Packages for measurements: one cell of zoom 7 each, with its ancestors and four zooms below it, 1.3 MB.
///
/// One tile of each is left out, so that a look-up for it has to ask the mask.
struct BenchMaps {
    let folder: URL
    let count: Int

    /// The bytes of a body, as vector tiles of towns have them.
    private static let bodyBytes = 3_900
    /// The last zoom of a package.
    static let lastZoom = 11
    private static let depth = lastZoom - 7
    /// Cells side by side.
    private static let columns = 30

    /// The cell of a package.
    func cell(_ number: Int) throws -> TileID {
        guard let cell = TileID(zoom: 7, x: 40 + number % Self.columns, y: 40 + number / Self.columns % 60) else {
            throw CocoaError(.coderInvalidValue)
        }
        return cell
    }

    /// The tiles of a package.
    func tiles(_ number: Int) throws -> [TileID] {
        let out = try leftOut(number)
        return try cells(number, depth: Self.depth).filter { $0 != out }
    }

    private func cells(_ number: Int, depth: Int) throws -> [TileID] {
        let mask = TileMask(tiles: [try cell(number)], maxZoom: 7).expanded(toZoom: 7 + depth)
        return Array(mask.tiles(in: .all))
    }

    /// The tiles of all packages, each once.
    func allTiles() throws -> [TileID] { Array(Set(try (0..<count).flatMap { try tiles($0) })) }

    /// The tiles that the packages leave out.
    func missing() throws -> [TileID] { try (0..<count).map(leftOut) }

    private func leftOut(_ number: Int) throws -> TileID { try tile(number, zoom: Self.lastZoom, column: 15, row: 15) }

    /// A tile of a package's cell, by its column and row within the cell.
    private func tile(_ number: Int, zoom: Int, column: Int, row: Int) throws -> TileID {
        let cell = try cell(number)
        let shift = zoom - cell.zoom
        guard let tile = TileID(zoom: zoom, x: cell.x << shift + column, y: cell.y << shift + row) else {
            throw CocoaError(.coderInvalidValue)
        }
        return tile
    }

    /// The requests of a map view that moves through the packages in turn, once through the middle of each: the three
    /// tiles of each new column, and the tiles above them at the two zooms before.
    func walk() throws -> [TileID] {
        try (0..<count).flatMap { number in
            try (0..<16).flatMap { column in
                var tiles = try (6..<9).map { try tile(number, zoom: Self.lastZoom, column: column, row: $0) }
                if column.isMultiple(of: 2) {
                    tiles += try (3..<5).map { try tile(number, zoom: Self.lastZoom - 1, column: column / 2, row: $0) }
                }
                if column.isMultiple(of: 4) {
                    tiles.append(try tile(number, zoom: Self.lastZoom - 2, column: column / 4, row: 1))
                }
                return tiles
            }
        }
    }

    /// Writes a package.
    ///
    /// - Parameter text: Goes into every body.
    func write(_ number: Int, text: String, to url: URL) throws {
        try Self.write(try tiles(number), bounds: try cell(number).bounds, text: text, to: url)
    }

    /// Writes a package of so many bytes, made of tiles of 3.9 KB.
    func write(_ number: Int, bytes: Int, to url: URL) throws {
        // Each zoom has four times the tiles of the one above: 3 of 4 tiles are of the last one.
        var depth = 2
        while bytes > (4 << (2 * depth)) / 3 * Self.bodyBytes { depth += 1 }
        let tiles = try cells(number, depth: depth).prefix(max(1, bytes / Self.bodyBytes))
        try Self.write(Array(tiles), bounds: try cell(number).bounds, text: "P\(number)", to: url)
    }

    /// Writes the tiles of all packages into one file.
    func writeAll(to url: URL) throws { try Self.write(try allTiles(), bounds: .world, text: "all", to: url) }

    private static func write(_ tiles: [TileID], bounds: BoundingBox, text: String, to url: URL) throws {
        let tiles = tiles.sorted { ($0.zoom, $0.x, $0.tmsY) < ($1.zoom, $1.x, $1.tmsY) }
        let last = tiles.last?.zoom ?? 0
        _ = try BulkPackage.write(url) { package in
            for (place, tile) in tiles.enumerated() {
                try Self.body("\(text) \(tile)", seed: place).withUnsafeBytes {
                    try package.add(body: $0, number: UInt32(place + 1))
                }
                try package.add(zoom: tile.zoom, column: tile.x, row: tile.tmsY, number: UInt32(place + 1))
            }
            package.add(metadata: [
                ("name", text), ("format", "pbf"), ("minzoom", "0"), ("maxzoom", "\(last)"),
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

    /// A store in a folder of its own.
    func store(_ name: String) async throws -> MapStore {
        let store = try await MapStore.open(StoreOptions(folder: folder.appending(path: name), trust: .unsigned))
        try await store.start()
        return store
    }

    /// A store with the packages; it is filled by adopting files.
    func store(_ name: String, _ numbers: some Sequence<Int>) async throws -> MapStore {
        let store = try await store(name)
        for number in numbers {
            let file = folder.appending(path: "P\(number).mbtiles")
            try write(number, text: "P\(number) 1", to: file)
            try await adopt(file, number, into: store)
        }
        return store
    }

    /// Moves a file into a store: an update where the package is there already.
    func adopt(_ file: URL, _ number: Int, into store: MapStore) async throws {
        _ = try await store.adopt(file, as: .package("P\(number)"), by: .move, replacing: true)
    }
}
