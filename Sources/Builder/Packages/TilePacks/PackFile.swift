internal import Digests
internal import Files
internal import Foundation
internal import PackageFiles
internal import TileBodies
internal import Tiles

/// One tile pack that is cut out of a package; it is itself a small package.
///
/// Its bytes are a function of the pack's place, its tiles and the tileset's facts. Facts about a region (its name, its
/// bounds, the layers of its other tiles) are left out, so two regions that have the same complete pack write the same
/// file.
struct PackFile {
    /// The possible page sizes; a pack uses the one that makes it smallest, computed from its bodies only.
    ///
    /// Large pages waste less between many small bodies; small pages waste less after large bodies and in the tables of
    /// a small pack: the smallest pack has 4,096 bytes. The list of tables does not fit a page of 512 bytes.
    static let pageSizes = [1_024, 2_048, 4_096]

    let pack: PackScheme.Pack
    let tileset: String
    /// The package's metadata.
    let source: [String: String]

    /// Writes the pack's tiles as a sealed MBTiles file and reads it back.
    ///
    /// - Returns: How many tiles it has; the caller does not keep a file without tiles.
    func write(_ package: PackageFile, to url: URL) throws -> UInt64 {
        var metadata = try facts()
        let survey = try survey(package)
        var hash = TilesHash()
        _ = try BulkPackage.write(url, pageSize: survey.pageSize, isSmall: true) { builder in
            var numbers = survey.numbers[...]
            var most: UInt32 = 0
            var layers = LayerCollector(metadata.format, isChecked: false)
            var pictures = PictureCounts()
            try each(package) { row, body in
                guard let number = numbers.popFirst() else {
                    throw PackagesError(.io, "'\(package.path)' changed while tile packs were made from it; try again.")
                }
                if number > most {
                    try builder.add(body: body, number: number)
                    if !metadata.format.traits.isVector { pictures.add(body, stated: metadata.format) }
                    most = number
                }
                try builder.add(zoom: row.zoom, column: row.column, row: row.row, number: number)
                if metadata.lacksLayers {
                    try body.withUnsafeBytes { try layers.add($0, BodyKey(reference: UInt64(number)), zoom: row.zoom) }
                }
                hash.add(row)
            }
            // Of a package with PNG and JPEG a pack can have one of them alone.
            metadata.format = pictures.mostFrequent(orStated: metadata.format) ?? metadata.format
            try builder.add(
                metadata: metadata.rows(
                    zooms: pack.zooms, tilesHash: hash.finish(),
                    foundLayers: metadata.lacksLayers ? layers.layers.json : nil))
        }
        guard try PackageFile.read(url, { try $0.hash() }) == hash.finish() else {
            throw PackagesError(.verificationFailed, "Pack \(pack.index) did not pass its read-back check.")
        }
        return UInt64(survey.numbers.count)
    }

    /// Properties of a pack that are computed before it is written.
    private struct Survey {
        /// The number of each tile's body, in the order of the tiles.
        var numbers: [UInt32] = []
        /// Bytes of each different body, in the order of first use.
        var sizes: [Int] = []

        /// The page size that gives the smallest file.
        var pageSize: Int {
            func bytes(_ pageSize: Int) -> Int {
                var bodies = SQLiteSizes.Table(pageSize: pageSize)
                // A record's header of four bytes at most.
                for size in sizes { bodies.add(blob: size, others: 4) }
                // Coordinates at a medium zoom: 13 bytes.
                let places = SQLiteSizes.index(rows: numbers.count, bytes: 13, pageSize: pageSize)
                return (2 + bodies.pages + places) * pageSize
            }
            return PackFile.pageSizes.min { bytes($0) < bytes($1) } ?? PackageDatabase.pageSize
        }
    }

    private func survey(_ package: PackageFile) throws -> Survey {
        var survey = Survey()
        var numbers: [BodyKey: UInt32] = [:]
        try each(package) { _, body in
            let key = BodyKey(Digest(of: body))
            let number = numbers[key] ?? UInt32(numbers.count + 1)
            if numbers.updateValue(number, forKey: key) == nil { survey.sizes.append(body.count) }
            survey.numbers.append(number)
        }
        return survey
    }

    /// The pack's tiles by zoom, column and TMS row.
    private func each(_ package: PackageFile, _ visit: (TileRow, _ body: [UInt8]) throws -> Void) throws {
        for zoom in pack.zooms {
            for (column, rows) in columns(zoom) {
                var found = try package.tiles(zoom: zoom, column: column, rows: rows)
                while let row = try found.next(), let body = row.body { try visit(row, body) }
            }
        }
    }

    /// The columns of a zoom and the rows from the south that the pack spans.
    private func columns(_ zoom: Int) -> [(column: Int, rows: ClosedRange<Int>)] {
        let span = 1 << (zoom - pack.index.zoom)
        let south = pack.index.tmsY * span
        return (pack.index.x * span..<(pack.index.x + 1) * span).map { ($0, south...south + span - 1) }
    }

    private func facts() throws -> PackageMetadata {
        guard let format = source["format"].flatMap(TileFormat.init(word:)) else {
            throw PackagesError(.badSource, "The tile format of the package is unknown: its metadata lacks 'format'.")
        }
        guard let bounds = TileMask(tiles: [pack.index], maxZoom: pack.index.zoom).bounds else {
            throw PackagesError(.badSpec, "Tile \(pack.index) has no bounds.")
        }
        let members = TileSourceMembers(rows: source, format: format)
        var metadata = PackageMetadata(
            name: "\(tileset) \(pack.index)", format: format, bounds: bounds, attribution: source["attribution"],
            role: source["type"].flatMap(PackageMetadata.Role.init) ?? .baselayer, version: source["version"] ?? "1.0")
        (metadata.encoding, metadata.tileSize) = (members.encoding, members.tileSize)
        return metadata
    }
}
