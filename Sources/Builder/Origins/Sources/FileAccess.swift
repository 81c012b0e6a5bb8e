import Errors
import Tilesets

/// An MBTiles file of this machine.
enum MBTilesAccess: SourceAccess {
    static func metadata(
        of file: TilesetFile, environment: [String: String]
    ) async throws(OriginsError) -> SourceDescription {
        SourceDescription(metadata: try SourceMetadata(mbtiles: file.source.address))
    }

    static func open(_ tileset: Tileset, _ opening: SourceOpening) async throws(OriginsError) -> any TileOrigin {
        // SQLite reads with one connection.
        try ArchiveOrigin(
            path: tileset.source.address, isPMTiles: false, tileset,
            opening.pool ?? BodyCheckPool(tileset, opening, lanes: 1))
    }

    static func version(of tileset: Tileset) throws(OriginsError) -> String? {
        try SourceVersion.of(path: tileset.source.address, hasLog: true)
    }
}

/// A PMTiles file of this machine.
enum PMTilesAccess: SourceAccess {
    static func metadata(
        of file: TilesetFile, environment: [String: String]
    ) async throws(OriginsError) -> SourceDescription {
        SourceDescription(metadata: try SourceMetadata(pmtiles: file.source.address))
    }

    static func open(_ tileset: Tileset, _ opening: SourceOpening) async throws(OriginsError) -> any TileOrigin {
        try ArchiveOrigin(
            path: tileset.source.address, isPMTiles: true, tileset, opening.pool ?? BodyCheckPool(tileset, opening))
    }

    static func version(of tileset: Tileset) throws(OriginsError) -> String? {
        try SourceVersion.of(path: tileset.source.address, hasLog: false)
    }
}
