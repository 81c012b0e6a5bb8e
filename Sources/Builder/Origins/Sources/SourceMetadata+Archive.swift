import Errors
import PMTiles
import PackageFiles
import TileBodies
import Tiles
import Tilesets

extension SourceMetadata {
    /// What an MBTiles file says about itself, completed from its tiles where it says nothing.
    ///
    /// - Throws: ``OriginsError``.
    init(mbtiles path: String) throws(OriginsError) {
        self.init()
        do throws(ArchiveError) {
            let archive = try MBTilesArchive(path: path, .batch(path))
            let facts = try archive.facts()
            let rows = facts.rows
            name = rows["name"]
            attribution = rows["attribution"]
            description = rows["description"]
            format = archive.format
            isFormatOfTiles = format != nil
            formatFault = archive.formatFault(facts)
            if format == nil { foreignFormat = rows["format"].flatMap(ForeignFormat.init(word:)) }
            if let shallow = rows["minzoom"].flatMap(Int.init), let deep = rows["maxzoom"].flatMap(Int.init) {
                zooms = ZoomRange(min: shallow, max: min(deep, TileID.maxZoom))
            }
            if let text = rows["bounds"] {
                bounds = SourceMetadata.bounds(
                    text.split(separator: ",").compactMap { Double($0.filter { !$0.isWhitespace }) })
            }
            encoding = rows["encoding"].flatMap(TerrainEncoding.init(rawValue:))
            if let json = rows["json"] { merge(metadataJSON: Array(json.utf8)) }
            widenZooms(to: try archive.tileZooms())
        } catch { throw OriginsError(error) }
    }

    /// What a PMTiles file says about itself.
    ///
    /// - Throws: ``OriginsError``.
    init(pmtiles path: String) throws(OriginsError) {
        do throws(ArchiveError) {
            let archive = try PMTilesArchive(path: path, .batch(path))
            let facts = try archive.facts()
            self.init(archive.file.header, metadata: archive.metadataText())
            format = archive.format
            isFormatOfTiles = format != nil
            formatFault = archive.formatFault(facts)
            widenZooms(to: try archive.tileZooms())
        } catch { throw OriginsError(error) }
    }

    /// What a PMTiles archive says about itself.
    ///
    /// - Parameter text: Its unpacked metadata; may be empty.
    init(_ header: PMTilesHeader, metadata text: [UInt8]) {
        self.init()
        format = header.format
        zooms = header.zooms
        bounds = SourceMetadata.bounds(header.bounds)
        if !text.isEmpty { merge(metadataJSON: text) }
    }
}

extension OriginsError {
    /// The same error, as this module's callers know it.
    init(_ error: ArchiveError) {
        let code: Code =
            switch error.code {
            case .unreadable: .unreadable
            case .busy: .busy
            // Every attempt at the tile would end in the same way.
            case .unsupported, .conflictingTiles: .unsupported
            case .badArchive, .badTile: .badArchive
            }
        self.init(code, error.message, cause: error)
    }
}
