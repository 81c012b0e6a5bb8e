import Errors
import Foundation
import GRDB
import TileBodies
import Tiles
import Tilesets

extension MBTilesArchive {
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
            throw OriginsError(
                reading: error, path, otherwise: "MBTiles file '\(path)' has no readable 'metadata' table.")
        }
    }

    private static func metadata(_ values: [String: String]) -> SourceMetadata {
        var metadata = SourceMetadata()
        metadata.name = values["name"]
        metadata.attribution = values["attribution"]
        metadata.description = values["description"]
        metadata.format = values["format"].flatMap(TileFormat.init(word:))
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
