import Errors

/// The kinds of sources of tiles: a closed list, and the row of each.
///
/// A new kind is a case with its row here, and the file in Origins that reads it (`SourceAccess`), which the compiler asks for. Tileset
/// files, `--tileset`, help, the canonical form, coordinator and workers know it then.
public enum SourceScheme: String, Sendable, Hashable, CaseIterable {
    // In the order in which a text is tried: the last one takes every web address.
    /// Tile URLs with placeholders, used in rotation by tile.
    case templates
    /// A PMTiles archive on a web server or in an S3 bucket (`s3://bucket/key`), read in parts; `{key}` may stand in a web address.
    case remotePMTiles
    /// An MBTiles file; the path is absolute.
    case mbtiles
    /// A PMTiles file; the path is absolute.
    case pmtiles
    /// A layer of a WMTS: the address of its capabilities with the layer after `#`; a tile URL takes its place before a job is submitted.
    case wmts
    /// A MapServer, ImageServer or VectorTileServer of ArcGIS; a tile URL takes its place before a job is submitted.
    case arcGIS
    /// Archives of this machine, of web servers and buckets, each with some zooms and a part of the world (``ArchivePart``).
    case archives
    /// A document that lists such archives; those in it take its place before a job is submitted.
    case archiveIndex
    /// A source whose address changes with each build (``LatestSource``); its newest build takes its place before a job is submitted.
    case latest
    /// A TileJSON document on a web server; the tile URLs in it take its place before a job is submitted.
    case tileJSON

    /// Everything that tilesets know about the scheme.
    package var row: SourceRow {
        switch self {
        case .templates:
            SourceRow(
                words: "a tile URL with {z}, {x} and {y}", beginnings: ["http://", "https://"], target: .tiles,
                key: .list("templates"), takesLanguage: true,
                read: SourceRow.readTemplates,
                check: { (tileset) throws(TilesetsError) in try tileset.checkTemplates() })
        case .remotePMTiles:
            SourceRow(
                words: "the URL of a PMTiles archive (http, https or s3)",
                beginnings: ["http://", "https://", "s3://", "pmtiles:"], target: .remoteFile,
                key: .text("pmtilesURL"),
                read: SourceRow.readRemoteArchive,
                checkAsking: { (tileset) throws(TilesetsError) in try tileset.check() },
                check: { (tileset) throws(TilesetsError) in try tileset.checkRemoteFile() })
        case .mbtiles:
            SourceRow(
                words: "mbtiles:FILE", beginnings: ["mbtiles:"], target: .file, key: .text("mbtiles"),
                read: SourceRow.readFile(after: "mbtiles:"),
                check: { (tileset) throws(TilesetsError) in try tileset.checkFile() })
        case .pmtiles:
            SourceRow(
                words: "pmtiles:FILE", beginnings: ["pmtiles:"], target: .file, key: .text("pmtiles"),
                read: SourceRow.readFile(after: "pmtiles:"),
                check: { (tileset) throws(TilesetsError) in try tileset.checkFile() })
        case .wmts:
            SourceRow(
                words: "wmts:URL#LAYER with the URL of capabilities", beginnings: ["wmts:"], target: .document,
                key: nil,
                read: SourceRow.readWMTS, check: SourceRow.refuseUnread)
        case .arcGIS:
            SourceRow(
                words: "the URL of a MapServer, ImageServer or VectorTileServer of ArcGIS",
                beginnings: ["http://", "https://"], target: .document, key: nil, read: SourceRow.readArcGIS,
                check: SourceRow.refuseUnread)
        case .archives:
            SourceRow(
                words: nil, beginnings: [], target: .archives, key: .list("archives"), read: { _, _ in nil },
                checkAsking: { (tileset) throws(TilesetsError) in try tileset.check() },
                check: { (tileset) throws(TilesetsError) in try tileset.checkArchives() })
        case .archiveIndex:
            SourceRow(
                words: "archives:INDEX", beginnings: ["archives:"], target: .document, key: nil,
                read: SourceRow.readArchiveIndex,
                checkAsking: { (tileset) throws(TilesetsError) in
                    if SourceRow.isWeb(tileset.source.address[...]) { try tileset.checkRemoteFile() }
                }, check: SourceRow.refuseUnread)
        case .latest:
            SourceRow(
                words: "latest:NAME or latest:URL (see latest)",
                beginnings: ["latest:"], target: .document, key: nil, read: { _, _ in nil },
                checkAsking: { (tileset) throws(TilesetsError) in
                    try LatestSource(text: tileset.source.address)?.check(tileset)
                }, check: SourceRow.refuseUnread)
        case .tileJSON:
            SourceRow(
                words: "a TileJSON URL", beginnings: ["http://", "https://"], target: .document, key: nil,
                takesLanguage: true, read: SourceRow.readDocument, check: SourceRow.refuseUnread)
        }
    }

    /// What a person can write, for messages: `a tile URL with {z}, {x} and {y}, …, pmtiles:FILE or a TileJSON URL`.
    package static let words: String = {
        let words = allCases.compactMap(\.row.words)
        return words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
    }()

    /// Whether a text is the address of a source and not the path of a tileset file.
    package static func isAddress(_ text: String) -> Bool {
        let text = (TemplateSpelling.withoutKind(text)?.address ?? text).prefix(16).lowercased()
        return allCases.contains { $0.row.beginnings.contains { text.hasPrefix($0) } }
    }
}
