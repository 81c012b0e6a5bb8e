import Errors
import Foundation
import GRDB
import SQLiteFiles
import TileBodies
import Tiles

/// An MBTiles file of any dialect, also CARTO's with its preset dictionary, read through its `tiles` table or view.
///
/// Reading creates no files, so a read-only disk works too. A file that is replaced or changed must be opened again
/// (``FileStamp``).
final class MBTilesArchive: TileArchive {
    let queue: DatabaseQueue
    let path: String
    private let limit: Int
    /// The preset dictionary of CARTO's packager; `nil` if bodies do not use one.
    private let dictionary: [UInt8]?
    /// The query whether the file names a tile, for dialects with a separate table of bodies: a named tile without a
    /// body is damage.
    private let naming: String?

    init(path: String, limit: Int) throws(OriginsError) {
        self.path = path
        self.limit = limit
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw OriginsError(
                .unreadable, "MBTiles file '\(path)' cannot be read; check the path and its permissions.")
        }
        let (isEncrypted, isPatch): (Bool, Bool)
        do {
            queue = try AnySQLiteFile.open(URL(filePath: path))
            try queue.read { db in
                _ = try db.makeStatement(sql: "SELECT tile_data FROM tiles WHERE zoom_level = ?")
            }
            naming = try queue.read { db in try Self.naming(db) }
            (dictionary, isEncrypted, isPatch) = try queue.read { db in
                guard try db.tableExists("metadata") || db.viewExists("metadata") else { return (nil, false, false) }
                let sql = "SELECT value FROM metadata WHERE name = ?"
                func has(_ name: String) throws -> Bool { try Row.fetchOne(db, sql: sql, arguments: [name]) != nil }
                let data = try Data?.fetchOne(db, sql: sql, arguments: ["shared_zlib_dict"]) ?? nil
                return (
                    data.map { [UInt8]($0) }, try has("nutikeysha1"), try has("agg_tiles_hash_before_apply")
                )
            }
        } catch let error as ComputedView {
            throw OriginsError(.badArchive, error.message, cause: error)
        } catch {
            throw OriginsError(
                reading: error, path,
                otherwise: "'\(path)' is not an MBTiles file: it has no readable 'tiles' table or view.")
        }
        guard !isEncrypted else {
            throw OriginsError(
                .unsupported, "'\(path)' is encrypted with a key from CARTO; only unencrypted packages can be read.")
        }
        // The row that identifies patches is that of martin's `mbtiles` tool; patches of Packhorse have it too.
        guard !isPatch else {
            throw OriginsError(
                .unsupported,
                "'\(path)' is a patch: it has only the changed tiles. Create the package first with 'packhorse apply'.")
        }
    }

    /// The query for the dialects that store bodies once, planetiler's and mbutil's.
    private static func naming(_ db: Database) throws -> String? {
        guard try db.viewExists("tiles") else { return nil }
        for (table, body) in [("tiles_shallow", "tile_data_id"), ("map", "tile_id")] where try db.tableExists(table) {
            let columns = Set(try db.columns(in: table).map(\.name))
            guard columns.isSuperset(of: ["zoom_level", "tile_column", "tile_row", body]) else { continue }
            return """
                SELECT EXISTS (SELECT 1 FROM \(table) WHERE zoom_level = ? AND tile_column = ? AND tile_row = ? \
                AND \(body) IS NOT NULL)
                """
        }
        return nil
    }

    func read(
        _ tiles: [TileID], each: (TileID, Result<(body: [UInt8], coding: BodyCoding)?, OriginsError>) -> Void
    ) throws(OriginsError) {
        var done = 0
        do {
            try queue.read { db in
                let statement = try db.cachedStatement(
                    sql: "SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?")
                for tile in tiles {
                    let data = try Data?.fetchOne(statement, arguments: [tile.zoom, tile.x, tile.tmsY]) ?? nil
                    if data == nil, let naming,
                        try Bool.fetchOne(
                            db.cachedStatement(sql: naming), arguments: [tile.zoom, tile.x, tile.tmsY]) == true
                    {
                        let text = "MBTiles file '\(path)' is damaged: it lists the tile but has no body for it"
                        each(tile, .failure(OriginsError(.badArchive, text)))
                    } else if let data, data.count > limit {
                        let text = "the tile has \(data.count) bytes; the limit is \(limit)"
                        each(tile, .failure(OriginsError(.badArchive, text)))
                    } else {
                        each(tile, body(data))
                    }
                    done += 1
                }
            }
        } catch {
            let text = "MBTiles file '\(path)' is damaged: \((error as? DatabaseError)?.message ?? "unreadable row")"
            let failure = OriginsError(reading: error, path, otherwise: text)
            guard !failure.isOfTheWhole else { throw failure }
            for tile in tiles[done...] { each(tile, .failure(failure)) }
        }
    }

    /// An MBTiles body has no label; gzip is recognised by its first bytes, and a preset dictionary is undone here.
    private func body(_ data: Data?) -> Result<(body: [UInt8], coding: BodyCoding)?, OriginsError> {
        guard let data else { return .success(nil) }
        guard let dictionary, !data.isEmpty else { return .success((body: [UInt8](data), coding: .identity)) }
        do {
            let body = try PresetDictionary.decompress([UInt8](data), dictionary: dictionary, limit: limit)
            return .success((body: body, coding: .identity))
        } catch {
            return .failure(OriginsError(.badArchive, "the tile cannot be unpacked: \(error.message)", cause: error))
        }
    }
}

extension OriginsError {
    /// Names what reading an MBTiles file met.
    ///
    /// - Parameter text: The message if the file itself is damaged.
    init(reading error: any Error, _ path: String, otherwise text: String) {
        guard let explanation = SQLiteFault.explanation(error, path: path) else {
            self.init(.badArchive, text, cause: error)
            return
        }
        self.init(SQLiteFault(error) == .busy ? .busy : .unreadable, "MBTiles file \(explanation)", cause: error)
    }
}
