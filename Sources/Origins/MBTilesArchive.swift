import Foundation
import GRDB
import TileBodies
import Tiles
import Tilesets

/// An MBTiles file of any dialect, read through its `tiles` table or view.
///
/// Opened read-only and as immutable, so that a file on a read-only disk works and no `-shm` appears beside it.
final class MBTilesArchive: TileArchive {
    private let queue: DatabaseQueue
    private let path: String
    private let limit: Int

    init(path: String, limit: Int) throws(OriginsError) {
        self.path = path
        self.limit = limit
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw OriginsError(
                .unreadable, "MBTiles file '\(path)' cannot be read; check the path and its permissions.")
        }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.prepareDatabase { db in
            // A view of a stranger's file must not call functions with side effects.
            try db.execute(sql: "PRAGMA trusted_schema = OFF")
        }
        let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "/-_.~"))
        let escaped = path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path
        do {
            queue = try DatabaseQueue(path: "file:\(escaped)?immutable=1", configuration: configuration)
            try queue.read { db in
                _ = try db.makeStatement(sql: "SELECT tile_data FROM tiles WHERE zoom_level = ?")
            }
        } catch {
            throw OriginsError(
                .badArchive, "'\(path)' is no MBTiles file: it has no readable 'tiles' table or view.", cause: error)
        }
    }

    func read(
        _ tiles: [TileID], each: (TileID, Result<(body: [UInt8], coding: BodyCoding)?, OriginsError>) -> Void
    ) {
        var done = 0
        do {
            try queue.read { db in
                let statement = try db.cachedStatement(
                    sql: "SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?")
                for tile in tiles {
                    let data = try Data?.fetchOne(statement, arguments: [tile.zoom, tile.x, tile.tmsY]) ?? nil
                    done += 1
                    if let data, data.count > limit {
                        let text = "the tile has \(data.count) bytes; the limit is \(limit)"
                        each(tile, .failure(OriginsError(.badArchive, text)))
                    } else {
                        // An MBTiles body has no label; gzip is recognised by its first bytes.
                        each(tile, .success(data.map { (body: [UInt8]($0), coding: .identity) }))
                    }
                }
            }
        } catch {
            let text = "MBTiles file '\(path)' is damaged: \((error as? DatabaseError)?.message ?? "unreadable row")"
            for tile in tiles[done...] { each(tile, .failure(OriginsError(.badArchive, text, cause: error))) }
        }
    }

    /// What the `metadata` table says, completed from the rows where it says nothing.
    func metadata() throws(OriginsError) -> SourceMetadata {
        do {
            return try queue.read { db in
                var values: [String: String] = [:]
                let rows = try Row.fetchCursor(db, sql: "SELECT name, value FROM metadata LIMIT 1000")
                while let row = try rows.next() {
                    guard let name = String.fromDatabaseValue(row[0]) else { continue }
                    // Numbers are sometimes stored as numbers.
                    values[name] = String.fromDatabaseValue(row[1]) ?? Int.fromDatabaseValue(row[1]).map(String.init)
                }
                var metadata = Self.metadata(values)
                if metadata.zooms == nil,
                    let row = try Row.fetchOne(db, sql: "SELECT min(zoom_level), max(zoom_level) FROM tiles"),
                    let shallow = Int.fromDatabaseValue(row[0]), let deep = Int.fromDatabaseValue(row[1])
                {
                    metadata.zooms = ZoomRange(min: shallow, max: min(deep, TileID.maxZoom))
                }
                return metadata
            }
        } catch {
            throw OriginsError(.badArchive, "MBTiles file '\(path)' has no readable 'metadata' table.", cause: error)
        }
    }

    private static func metadata(_ values: [String: String]) -> SourceMetadata {
        var metadata = SourceMetadata()
        metadata.name = values["name"]
        metadata.attribution = values["attribution"]
        metadata.description = values["description"]
        metadata.format = values["format"].flatMap(SourceMetadata.format)
        if let shallow = values["minzoom"].flatMap(Int.init), let deep = values["maxzoom"].flatMap(Int.init) {
            metadata.zooms = ZoomRange(min: shallow, max: min(deep, TileID.maxZoom))
        }
        if let bounds = values["bounds"] {
            metadata.bounds = SourceMetadata.bounds(
                bounds.split(separator: ",").compactMap { Double($0.trimmingCharacters(in: .whitespaces)) })
        }
        if let json = values["json"] { metadata.merge(metadataJSON: Array(json.utf8)) }
        return metadata
    }
}
