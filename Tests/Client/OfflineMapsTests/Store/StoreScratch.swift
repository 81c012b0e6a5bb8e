import Foundation
import PackageFiles
import TileBodies
import Tiles

@testable import OfflineMaps

/// The folder of one test, removed with it.
final class StoreScratch: Sendable {
    let url: URL
    var folder: StoreFolder { StoreFolder(url) }

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "packhorse-maps-\(UUID().uuidString)")
        try StoreFolder(url).make()
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Makes a package in `files` and gives its row.
    func unit(
        _ id: String = "EE", version: Int32 = 1, cell: (Int, Int, Int) = (7, 72, 37), depth: Int = 2,
        edition: Edition = Edition(), date: String? = nil, tileset: String? = "demo", without: Set<TileID> = []
    ) throws -> InstalledFile {
        let item = Item.package(id, edition)
        let map = try TestMap(cell, depth: depth)
        let sha = String(repeating: "0", count: 56) + String(format: "%08x", version)
        let place = folder.unit(.package, edition, id: id, version: version, sha256: sha)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let file = place.appending(path: "\(id).mbtiles")
        try map.write(to: file, text: "\(id) \(version)", without: without)
        let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? UInt64 ?? 0
        return InstalledFile(
            item, version, sha, path: folder.relative(file) ?? "", bytes: size, mask: map.mask, zooms: map.zooms,
            tileset: tileset, dataDate: date, attribution: "© Test", order: Int64(version))
    }
}

extension InstalledFile {
    /// A file that is no pack.
    init(
        _ item: Item, _ version: Int32 = 1, _ sha256: String = String(repeating: "0", count: 64), path: String,
        bytes: UInt64 = 1, format: Format = .mbtiles, mask: TileMask? = nil, zooms: ZoomRange? = nil,
        tileset: String? = nil, template: String? = nil, dataDate: String? = nil, attribution: String? = nil,
        order: Int64 = 0
    ) {
        self.init(
            id: FileID(key: InstalledFileKey(name: item.key, isPack: false), version: version, digest: sha256),
            item: item,
            path: path, bytes: bytes, format: format, mask: mask, zooms: zooms, tileset: tileset, template: template,
            dataDate: dataDate, attribution: attribution, order: order)
    }
}

extension StoreDatabase {
    /// Makes a file current, and the one before previous.
    func install(_ file: InstalledFile, holder: Item? = nil) throws {
        var changes: [Change] = [.file(file), .hold(Hold(key: file.id.key, item: holder ?? file.item))]
        for var old in try rows().files.values where old.id.key == file.id.key && old.state == .current {
            old.state = .previous
            changes.append(.file(old))
        }
        try apply(changes)
    }

    /// The files in a state.
    func files(_ state: InstalledFile.State = .current) throws -> [InstalledFile] {
        try rows().files.values.filter { $0.state == state }
    }
}

/// A cell, its ancestors, and some zooms below it.
struct TestMap {
    let cell: TileID
    let mask: TileMask
    let zooms: ZoomRange
    var tiles: [TileID] { Array(mask.tiles(in: zooms)) }

    init(_ cell: (Int, Int, Int), depth: Int) throws {
        struct NoTile: Error {}
        guard let tile = TileID(zoom: cell.0, x: cell.1, y: cell.2),
            let zooms = ZoomRange(min: 0, max: cell.0 + depth)
        else { throw NoTile() }
        self.cell = tile
        self.zooms = zooms
        mask = TileMask(tiles: [tile], maxZoom: cell.0).expanded(toZoom: cell.0 + depth)
    }

    /// Writes a package whose bodies name the text and the tile.
    ///
    /// - Parameter changed: What the body of the cell names in place of the text.
    func write(to url: URL, text: String, changed: String? = nil, without: Set<TileID> = []) throws {
        let rows = tiles.filter { !without.contains($0) }.sorted {
            ($0.zoom, $0.x, $0.tmsY) < ($1.zoom, $1.x, $1.tmsY)
        }
        _ = try BulkPackage.write(url) { package in
            for (number, tile) in rows.enumerated() {
                try Self.body(tile == cell ? changed ?? text : text, tile).withUnsafeBytes {
                    try package.add(body: $0, number: UInt32(number + 1))
                }
                try package.add(zoom: tile.zoom, column: tile.x, row: tile.tmsY, number: UInt32(number + 1))
            }
            let bounds = cell.bounds
            package.add(metadata: [
                ("name", text), ("format", "pbf"), ("minzoom", "\(zooms.min)"), ("maxzoom", "\(zooms.max)"),
                ("bounds", "\(bounds.west),\(bounds.south),\(bounds.east),\(bounds.north)"), ("type", "baselayer"),
                ("version", "1.0"), ("json", #"{"vector_layers":[{"id":"land","fields":{}}]}"#),
            ])
        }
    }

    /// Makes a patch next to a file, and gives the file the layout that a device makes with the patch.
    static func patch(from old: URL, to file: URL, name: String) throws -> URL {
        let patch = file.deletingLastPathComponent().appending(path: "\(name).mbtiles")
        try Patch.make(old: old, new: file, into: patch)
        try Patch.apply(patch, to: old, into: file, replacing: true)
        return patch
    }

    /// A vector tile with one layer that names the text and the tile, as gzip.
    static func body(_ text: String, _ tile: TileID) -> [UInt8] {
        func field(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] { [number << 3 | 2, UInt8(bytes.count)] + bytes }
        // MVT 2.1: one point without tags; version 2 is the last field.
        let feature: [UInt8] = [0x18, 1] + field(4, [9, 50, 34])
        let layer =
            field(1, Array("\(text) \(tile)".utf8.prefix(60))) + field(2, feature) + [0x28, 0x80, 0x20, 0x78, 2]
        return Gzip.compress(field(3, layer))
    }
}
