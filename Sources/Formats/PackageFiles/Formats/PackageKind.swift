public import Foundation
internal import GRDB

/// The kind of a file, by its content and never by its name.
public enum PackageKind: String, Sendable, Hashable {
    /// A SQLite database with a table or view `tiles` addressed by zoom, column and row.
    case mbtiles
    /// A PMTiles archive.
    case pmtiles
    /// A SQLite database with MapLibre's tables.
    case maplibre
    /// Something else, or too damaged to identify.
    case unknown

    /// Looks at the first bytes, and at the names of a database's tables.
    ///
    /// A database that SQLite cannot read counts as ``mbtiles``, so that its verification says why.
    /// - Throws: `PackagesError` `io` when the file cannot be read at all, `busy` when another program locks it.
    public static func of(_ url: URL) throws -> PackageKind {
        let head: [UInt8]
        do {
            let handle = try FileHandle(forReadingFrom: url)
            // The file was only read: closing it cannot lose data.
            defer { try? handle.close() }
            head = [UInt8](try handle.read(upToCount: 16) ?? Data())
        } catch {
            throw PackagesError(.io, "Cannot read '\(url.path)': \(error.localizedDescription)", cause: error)
        }
        if head.starts(with: "PMTiles".utf8) { return .pmtiles }
        guard head.starts(with: "SQLite format 3\0".utf8) else { return .unknown }
        do {
            let tables = try PackageDatabase.reading(url) { database in
                Set(try String.fetchAll(database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'"))
            }
            return tables.isSuperset(of: ["regions", "resources", "region_tiles"]) ? .maplibre : .mbtiles
        } catch let error as PackagesError where error.code == .busy || error.code == .io {
            throw error
        } catch {
            return .mbtiles
        }
    }
}
