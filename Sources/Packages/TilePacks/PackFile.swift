internal import Foundation
internal import Shards
internal import TileBodies
internal import Tiles

/// One pack being cut out of a package: a small package of its own.
///
/// Its bytes are a function of the pack's place, its tiles and the tileset's facts. What belongs to a region (its name, its bounds,
/// the layers its other tiles have) does not get into it, so two regions that hold the same pack whole write the same file.
struct PackFile {
    /// Bytes of a page: packs are many and small, and a table takes a page at least.
    static let pageSize = 1_024

    let pack: PackScheme.Pack
    let tileset: String
    /// The package's metadata.
    let source: [String: String]

    /// Writes the pack's tiles as a sealed MBTiles file and reads it back.
    ///
    /// - Returns: How many tiles it has; a file without any is not kept by the caller.
    func write(_ package: PackageFile, to url: URL) throws -> UInt64 {
        let metadata = try facts()
        var hash = TilesHash()
        var tiles: UInt64 = 0
        try MBTilesBuilder.write(url, isSealed: true, pageSize: Self.pageSize) { builder in
            var numbers: [BodyKey: UInt32] = [:]
            var layers = LayerCollector(isSettled: false)
            for zoom in pack.zooms {
                for (column, rows) in columns(zoom) {
                    var found = try package.tiles(zoom: zoom, column: column, rows: rows)
                    while let row = try found.next(), let body = row.body {
                        let key = BodyKey(Digest(of: body))
                        let number = numbers[key] ?? UInt32(numbers.count + 1)
                        if numbers.updateValue(number, forKey: key) == nil {
                            try builder.add(body: body, number: number)
                        }
                        try builder.add(zoom: zoom, column: column, row: row.row, number: number)
                        if metadata.lacksLayers {
                            try body.withUnsafeBytes { try layers.add($0, key, zoom: zoom) }
                        }
                        hash.add(row)
                        tiles += 1
                    }
                }
            }
            try builder.add(
                metadata: metadata.rows(
                    zooms: pack.zooms, tilesHash: hash.finish(),
                    foundLayers: metadata.lacksLayers ? layers.layers.json : nil))
        }
        try Durable.sync(file: url)
        guard try PackageFile.read(url, { try $0.hash() }) == hash.finish() else {
            throw PackagesError(.verificationFailed, "Pack \(pack.index) does not read back as it was written.")
        }
        return tiles
    }

    /// The columns of a zoom and the rows from the south that the pack spans.
    private func columns(_ zoom: Int) -> [(column: Int, rows: ClosedRange<Int>)] {
        let span = 1 << (zoom - pack.index.zoom)
        let south = pack.index.tmsY * span
        return (pack.index.x * span..<(pack.index.x + 1) * span).map { ($0, south...south + span - 1) }
    }

    private func facts() throws -> PackageMetadata {
        guard let format = source["format"].flatMap(MetadataCheck.format) else {
            throw PackagesError(.badSource, "The package does not say what its tiles are: its metadata lacks 'format'.")
        }
        guard let bounds = TileMask(tiles: [pack.index], maxZoom: pack.index.zoom).bounds else {
            throw PackagesError(.badSpec, "Tile \(pack.index) has no bounds.")
        }
        return PackageMetadata(
            name: "\(tileset) \(pack.index)", format: format, bounds: bounds, attribution: source["attribution"],
            role: source["type"].flatMap(PackageMetadata.Role.init) ?? .baselayer, version: source["version"] ?? "1.0")
    }
}

extension PackageFile {
    /// The `agg_tiles_hash` of the tiles at hand.
    func hash() throws -> String {
        var hash = TilesHash()
        var rows = try tiles()
        while let row = try rows.next() { hash.add(row) }
        return hash.finish()
    }
}
