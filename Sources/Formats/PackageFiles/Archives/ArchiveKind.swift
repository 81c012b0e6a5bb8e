internal import Errors
public import Foundation
internal import GRDB
internal import PMTiles
internal import SQLiteFiles

/// The kind of a file, by its content and never by its name.
public enum ArchiveKind: Sendable, Hashable {
    /// A SQLite database with a table or view `tiles` addressed by zoom, column and row.
    case mbtiles
    /// A PMTiles archive.
    case pmtiles
    /// A SQLite database with MapLibre's tables.
    case maplibre
    /// A GeoPackage that Packhorse wrote.
    case geoPackage
    /// Tiles as files in a folder or a ZIP archive, with a `tiles.json`.
    case tree
    /// Anything else, in words that follow "is".
    case other(String)

    /// Bytes of a head.
    private static let headSize = 512

    /// Looks at the first bytes, and at the names of a database's tables.
    ///
    /// A database that SQLite cannot read counts as ``mbtiles``, so that its verification says why.
    /// - Throws: `PackagesError` `io` when the file cannot be read at all, `busy` when another program locks it.
    public static func of(_ url: URL) throws -> ArchiveKind {
        if TileFolder.isThere(url) { return .tree }
        let head: [UInt8]
        do throws(ArchiveError) { head = try Self.head(url.path) } catch { throw PackagesError(error) }
        guard head.starts(with: SQLiteFileHeader.mark) else {
            if TileZip.begins(head) { return .tree }
            return PMTilesHeader.version(head) == nil ? .other(words(head)) : .pmtiles
        }
        if isGeoPackage(head) {
            // One that cannot be read is not known to be ours.
            let isOurs = (try? PackageDatabase.reading(url) { try GeoPackageVerify.isOurs($0) }) ?? false
            return isOurs ? .geoPackage : .other(geoPackageWords)
        }
        do {
            let tables = try PackageDatabase.reading(url) { database in
                try String.fetchSet(
                    database, sql: "SELECT lower(name) FROM sqlite_schema WHERE type IN ('table', 'view')")
            }
            if tables.isSuperset(of: ["regions", "resources", "region_tiles"]) { return .maplibre }
            return tables.contains("tiles") ? .mbtiles : .other("a SQLite database that has no tiles")
        } catch let error as PackagesError where error.code == .busy || error.code == .io {
            throw error
        } catch {
            return .mbtiles
        }
    }

    /// Refuses a GeoPackage, whose tables of tiles can look like those of MBTiles and count rows from the north.
    ///
    /// - Throws: ``ArchiveError`` `unsupported`; `unreadable` when the file cannot be read.
    static func refuseGeoPackage(_ path: String) throws(ArchiveError) {
        guard isGeoPackage(try head(path)) else { return }
        throw ArchiveError(
            .unsupported,
            "'\(path)' is \(geoPackageWords); MBTiles and PMTiles files can be read. \(geoPackageRemedy(path))")
    }

    static let geoPackageWords = "a GeoPackage"

    /// What to do with a GeoPackage, in a sentence.
    static func geoPackageRemedy(_ path: String) -> String {
        "Export its tiles as MBTiles with GDAL: gdal_translate -of MBTILES '\(path)' tiles.mbtiles."
    }

    /// What to do with a file that is no archive of tiles; `nil` where nothing is known.
    public func remedy(_ path: String) -> String? {
        switch self {
        case .geoPackage, .other(Self.geoPackageWords): Self.geoPackageRemedy(path)
        case .tree: "Use the package that it was made from, as MBTiles or PMTiles."
        case .mbtiles, .pmtiles, .maplibre, .other: nil
        }
    }

    /// What it is, in words that follow "is".
    public var words: String {
        switch self {
        case .mbtiles: "an MBTiles file"
        case .pmtiles: "a PMTiles archive"
        case .maplibre: "a MapLibre offline database"
        case .geoPackage: Self.geoPackageWords
        case .tree: "a folder or ZIP archive of tiles"
        case .other(let words): words
        }
    }

    /// OGC GeoPackage 1.2 and later: the application id at byte 68; `GP10` and `GP11` are those of 1.0 and 1.1.
    static func isGeoPackage(_ head: [UInt8]) -> Bool {
        head.count >= 72 && head.starts(with: SQLiteFileHeader.mark)
            && ["GPKG", "GP10", "GP11"].contains(String(decoding: head[68..<72], as: UTF8.self))
    }

    private static func head(_ path: String) throws(ArchiveError) -> [UInt8] {
        do {
            let handle = try FileHandle(forReadingFrom: URL(filePath: path))
            // The file was only read: closing it cannot lose data.
            defer { try? handle.close() }
            return [UInt8](try handle.read(upToCount: headSize) ?? Data())
        } catch {
            throw ArchiveError(.unreadable, "Cannot read '\(path)': \(error.localizedDescription)", cause: error)
        }
    }

    private static func words(_ head: [UInt8]) -> String {
        let known: [(start: [UInt8], words: String)] = [
            ([0x89, 0x50, 0x4E, 0x47], "a PNG image"), ([0xFF, 0xD8, 0xFF], "a JPEG image"),
            ([0x1F, 0x8B], "a gzip file: unpack it first"), (Array("BZh".utf8), "a bzip2 file: unpack it first"),
            ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "an xz file: unpack it first"),
            ([0x28, 0xB5, 0x2F, 0xFD], "a zstd file: unpack it first"), (Array("%PDF".utf8), "a PDF document"),
            ([0x49, 0x49, 0x2A, 0], "a TIFF image"), ([0x4D, 0x4D, 0, 0x2A], "a TIFF image"),
            ([0, 0, 0x27, 0x0A], "a shapefile"), (Array("mapsforge binary OSM".utf8), "a Mapsforge map"),
        ]
        if head.isEmpty { return "an empty file" }
        if let found = known.first(where: { head.starts(with: $0.start) }) { return found.words }
        if head.count > 15, Array(head[6..<15]) == Array("OSMHeader".utf8) { return "an OSM PBF file" }
        if head.count > 262, Array(head[257..<262]) == Array("ustar".utf8) { return "a tar archive: unpack it first" }
        let text = String(decoding: head, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        if text.hasPrefix("<") { return "a web page or an XML document" }
        if text.hasPrefix("{") || text.hasPrefix("[") { return "a JSON document" }
        return "of an unknown kind"
    }
}
