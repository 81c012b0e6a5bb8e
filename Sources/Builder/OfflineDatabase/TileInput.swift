internal import Errors
internal import Foundation
internal import GRDB
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
            return source
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
        return source
    }

    private static func metadata(_ file: URL) throws -> (TileFormat, String) {
        guard try PackageKind.of(file) == .mbtiles else {
            throw PackagesError(
                .badSource, "'\(file.path)' is not an MBTiles file; offline databases are made from MBTiles.")
        }
        return try reading(file) { database in
            var report = VerifyReport(path: file.path, size: 0, kind: "MBTiles")
            try SQLiteSeal.check(file, table: "metadata", in: database, into: &report)
            guard report.seal != .broken else {
                throw PackagesError(
                    .badSource, "'\(file.path)' is damaged: its seal is broken. Build it again.")
            }
            let patched = try Row.fetchOne(
                database, sql: "SELECT value FROM metadata WHERE name = ?", arguments: [PatchSchema.before])
            guard patched == nil else { throw PatchSchema.refusal(file.path) }
            let text = try String.fetchOne(database, sql: "SELECT value FROM metadata WHERE name = 'format'") ?? ""
            let name = try String.fetchOne(database, sql: "SELECT value FROM metadata WHERE name = 'name'")
            guard let format = TileFormat(word: text) else {
                throw PackagesError(
                    .badSource,
                    "'\(file.path)' has the tile format '\(text.prefix(40))'; supported are \(TileFormat.knownWords).")
            }
            return (format, name ?? file.deletingPathExtension().lastPathComponent)
        }
    }

    /// Calls `each` for every tile in the order of zoom, column and TMS row, its body unpacked.
    func tiles(_ each: (TileID, [UInt8]) throws -> Void) throws {
        try Self.reading(file) { database in
            let cursor = try Row.fetchCursor(
                database,
                sql: """
                    SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles
                    ORDER BY zoom_level, tile_column, tile_row
                    """)
            while let row = try cursor.next() {
                let values = (0..<4).map { index -> DatabaseValue in row[index] }
                guard
                    case (.int64(let zoom), .int64(let column), .int64(let south)) =
                        (values[0].storage, values[1].storage, values[2].storage), 0...Int64(TileID.maxZoom) ~= zoom,
                    0..<Int64(1) << 22 ~= column, 0..<Int64(1) << 22 ~= south,
                    let tile = TileID(zoom: Int(zoom), x: Int(column), tmsY: Int(south)),
                    case .blob(let data) = values[3].storage
                else { throw PackagesError(.badSource, "'\(file.path)' has a tile without coordinates or body.") }
                try each(tile, try unpacked([UInt8](data), tile))
            }
        }
    }

    private func unpacked(_ body: [UInt8], _ tile: TileID) throws -> [UInt8] {
        guard format.traits.coding == .gzip, Gzip.isGzip(body) else { return body }
        do throws(TileBodiesError) {
            return try Gzip.decompress(body)
        } catch {
            throw PackagesError(
                .badSource, "Tile \(tile) of '\(file.path)' cannot be unpacked: \(error.message).", cause: error)
        }
    }

    private static func reading<Result>(_ file: URL, _ body: (Database) throws -> Result) throws -> Result {
        do {
            return try PackageDatabase.reading(file, body)
        } catch let error as DatabaseError {
            throw PackagesError(
                .badSource, "'\(file.path)' cannot be read: \(error.message ?? "error \(error.resultCode)").",
                cause: error)
        }
    }
}
