internal import Errors
internal import Foundation
internal import PackageFiles
internal import Packages
internal import StyleFormat
internal import TileBodies
internal import Tiles

/// An MBTiles file and the source it is for.
struct TileInput {
    let file: URL
    let source: ClientStyle.TileSource
    let format: TileFormat
    /// `name` of its metadata.
    let name: String

    /// Pairs files with sources.
    ///
    /// - Throws: ``PackagesError`` `bad-source`: no source fits, several do, or one is left without tiles.
    static func pair(_ tiles: [OfflineTiles], _ style: ClientStyle) throws -> [TileInput] {
        var inputs: [TileInput] = []
        for tile in tiles {
            let (format, name) = try metadata(tile.file)
            let source = try chooseSource(for: tile, format: format, in: style)
            guard !inputs.contains(where: { $0.source.name == source.name }) else {
                throw PackagesError(.badSource, "Two files are given for the style's source '\(source.name)'.")
            }
            inputs.append(TileInput(file: tile.file, source: source, format: format, name: name))
        }
        let left = style.tileSources.map(\.name).filter { name in !inputs.contains { $0.source.name == name } }
        guard left.isEmpty else {
            throw PackagesError(
                .badSource,
                "The style also draws \(left.joined(separator: ", ")), and no tiles are given for it: a client would miss them. "
                    + "Give their MBTiles file too, or leave the source out of the style (--without \(left[0])).")
        }
        return inputs
    }

    private static func chooseSource(
        for tile: OfflineTiles, format: TileFormat, in style: ClientStyle
    ) throws -> ClientStyle.TileSource {
        let fitting = style.tileSources.filter { ($0.type == "vector") == format.traits.isVector }
        if let name = tile.source {
            guard let source = style.tileSources.first(where: { $0.name == name }) else {
                throw PackagesError(
                    .badSource,
                    "The style has no source '\(name)'; it has \(style.tileSources.map(\.name).joined(separator: ", "))."
                )
            }
            guard fitting.contains(source) else {
                throw PackagesError(
                    .badSource,
                    "Source '\(name)' is \(source.type), '\(tile.file.path)' holds \(format.rawValue) tiles.")
            }
            return try agreeing(source, format, in: tile.file)
        }
        guard fitting.count == 1, let source = fitting.first else {
            throw PackagesError(
                .unsupported,
                "'\(tile.file.path)' holds \(format.rawValue) tiles, but the style has "
                    + (fitting.isEmpty
                        ? "no source for them."
                        : "several sources for them: \(fitting.map(\.name).joined(separator: ", ")).")
                    + " Build the package without format maplibre, and make the database with 'packhorse convert --source NAME'."
            )
        }
        return try agreeing(source, format, in: tile.file)
    }

    /// Refuses a style that tells clients another encoding of vector tiles than the file has: they would draw nothing.
    private static func agreeing(
        _ source: ClientStyle.TileSource, _ format: TileFormat, in file: URL
    ) throws -> ClientStyle.TileSource {
        let isMLT = source.encoding == TileFormat.mlt.rawValue
        guard format.traits.isVector, isMLT != (format == .mlt) else { return source }
        throw PackagesError(
            .badSource,
            "'\(file.path)' holds \(format.rawValue) tiles, but the style's source '\(source.name)' "
                + (isMLT
                    ? "says encoding mlt; remove that member from the source, or from its TileJSON."
                    : "does not say so; add \"encoding\": \"mlt\" to the source, or to its TileJSON."))
    }

    private static func metadata(_ file: URL) throws -> (TileFormat, String) {
        guard try ArchiveKind.of(file) == .mbtiles else {
            throw PackagesError(
                .badSource, "'\(file.path)' is not an MBTiles file; offline databases are made from MBTiles.")
        }
        do {
            guard try SQLiteSeal.state(of: file) != .broken else {
                throw PackagesError(.badSource, "'\(file.path)' is damaged: its seal is broken. Build it again.")
            }
            let archive = try MBTilesArchive(path: file.path, .batch(file.path))
            let facts = try archive.facts()
            return (
                try archive.knownFormat(facts, file),
                facts.rows["name"] ?? file.deletingPathExtension().lastPathComponent
            )
        } catch let error as ArchiveError { throw PackagesError(error) }
    }

    /// Calls `each` for every tile in the order of zoom, column and TMS row, its body unpacked.
    func tiles(_ each: (TileID, [UInt8]) throws -> Void) throws {
        do {
            try MBTilesArchive(path: file.path, .batch(file.path)).bodiesInRowOrder { tile, body in
                try each(tile, try unpacked(body, tile))
            }
        } catch let error as ArchiveError { throw PackagesError(error) }
    }

    private func unpacked(_ body: [UInt8], _ tile: TileID) throws -> [UInt8] {
        guard format.traits.coding == .gzip else { return body }
        guard Gzip.isGzip(body) else {
            // Some writers have zlib streams; the first bytes can also be chance.
            let isZlib = body.withUnsafeBytes { Zlib.begins($0) }
            return isZlib ? (try? Zlib.decompress(body)) ?? body : body
        }
        do throws(TileBodiesError) {
            return try Gzip.decompress(body)
        } catch {
            throw PackagesError(
                .badSource, "Tile \(tile) of '\(file.path)' cannot be unpacked: \(error.message).", cause: error)
        }
    }
}
