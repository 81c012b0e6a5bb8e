internal import Foundation
internal import GRDB
internal import PackageFiles
internal import SQLiteFiles
internal import StyleFormat

/// What a file is, by its content and never by its name.
enum FileKind: Hashable, Sendable {
    case mbtiles, pmtiles, maplibre, styleArchive
    /// Anything else, in words that follow "is".
    case other(String)

    /// Finds out what a file is.
    ///
    /// - Throws: `bad-file` for one that cannot be read, or that another program is changing.
    static func of(_ url: URL) throws(StoreError) -> FileKind {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
            throw StoreError.failing(.badFile, "'\(url.path)' does not exist.")
        }
        if isFolder.boolValue { return .other("a folder") }
        let head: [UInt8]
        do {
            let handle = try FileHandle(forReadingFrom: url)
            // The file was only read: closing it cannot lose data.
            defer { try? handle.close() }
            head = [UInt8](try handle.read(upToCount: 512) ?? Data())
        } catch {
            throw StoreError.failing(
                .badFile, "'\(url.path)' cannot be read: \(error.localizedDescription)", below: error)
        }
        if head.starts(with: "SQLite format 3\0".utf8) { return try database(url, head) }
        if head.starts(with: "PMTiles".utf8) {
            return head.count > 7 && head[7] == 3 ? .pmtiles : .other("a PMTiles archive of another version than 3")
        }
        if StoredZip.looksLikeZip(url) { return .styleArchive }
        return .other(words(head))
    }

    private static func database(_ url: URL, _ head: [UInt8]) throws(StoreError) -> FileKind {
        let wal = URL(filePath: url.path + "-wal")
        // No such file has no changes.
        if let size = try? FileManager.default.attributesOfItem(atPath: wal.path)[.size] as? Int, size > 0 {
            throw StoreError.failing(
                .badFile, "'\(url.path)' was not closed: the file '\(wal.lastPathComponent)' has changes of it.",
                advice: "Close the program that writes it, and try again.")
        }
        // OGC GeoPackage 1.2 and later: the application id at byte 68.
        if head.count >= 72, Array(head[68..<72]) == Array("GPKG".utf8) { return .other("a GeoPackage") }
        do {
            let (tables, version) = try AnySQLiteFile.open(url).read { database in
                (
                    try String.fetchSet(
                        database, sql: "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')"),
                    try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
                )
            }
            if tables.isSuperset(of: ["regions", "resources", "region_tiles", "tiles"]) {
                return version == 6
                    ? .maplibre
                    : .other("a MapLibre database with the schema version \(version); the known one is 6")
            }
            if tables.isSuperset(of: ["tiles", "metadata"]) { return .mbtiles }
            return .other("a SQLite database that has no tiles")
        } catch {
            let reason = (error as? ComputedView)?.message ?? SQLiteFault.explanation(error, path: url.path)
            throw StoreError.failing(
                .badFile, reason ?? "'\(url.path)' is a damaged SQLite database.", below: error)
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
