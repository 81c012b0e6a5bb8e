internal import Files
internal import Foundation
internal import GRDB
internal import PMTiles
internal import PackageFiles
internal import SQLiteFiles
internal import StyleFormat
internal import Tiles

/// Looks whether a file can be read as what it is said to be: its header, its index, and one tile.
///
/// The digest of the signed catalog has proved each byte before. The seal is a digest of the same bytes and is not
/// checked again.
enum FileProbe {
    /// Whether the file is of the file's format and gives a tile.
    ///
    /// - Throws: `disk-full`, because a style is unpacked for a moment.
    static func isSound(_ file: URL, _ unit: InstalledFile) throws(StoreError) -> Bool {
        do {
            switch unit.format {
            case .mbtiles: return try probeTiles(file)
            case .pmtiles: return try probeArchive(file)
            case .maplibre:
                _ = try MapLibreHandle(path: file.path, isUnchanging: true)
                return true
            case .styleArchive: return try probeStyle(file)
            default: return true
            }
        } catch let error as StylesError where error.code == .diskFull {
            throw StoreError(.diskFull, error.message, cause: error, isRetriable: true)
        } catch { return false }
    }

    private static func probeTiles(_ file: URL) throws -> Bool {
        let place = try AnySQLiteFile.open(file).read { database in
            try Row.fetchOne(database, sql: "SELECT zoom_level, tile_column, tile_row FROM tiles LIMIT 1")
        }
        let handle = try MBTilesHandle(path: file.path, isUnchanging: true)
        // A package of an area without any tile is a package too.
        guard let place else { return true }
        guard let zoom = Int.fromDatabaseValue(place[0]), let column = Int.fromDatabaseValue(place[1]),
            let row = Int.fromDatabaseValue(place[2]), let tile = TileID(zoom: zoom, x: column, tmsY: row)
        else { return false }
        if case .body = try handle.find(tile) { return true }
        return false
    }

    private static func probeArchive(_ file: URL) throws -> Bool {
        struct Found: Error {}
        let archive = try PMTilesFile(path: file.path)
        do {
            try archive.walk { entry in
                _ = try archive.body(at: entry.offset, length: entry.length)
                throw Found()
            }
        } catch is Found { return true }
        return true
    }

    /// Unpacks a style next to its archive for a moment: names, sizes and checksums, and the index of the pack.
    private static func probeStyle(_ file: URL) throws -> Bool {
        let folder = URL(filePath: file.path + ".probe", directoryHint: .isDirectory)
        // What a crash has left.
        try FileInstaller.removeFolder(folder)
        try Durable.makeFolder(folder)
        // A folder that stays is removed by the next probe of the file.
        defer { try? FileInstaller.removeFolder(folder) }
        try StoredZip.unpack(file, into: folder)
        _ = try StylePack(folder).style()
        return true
    }
}
