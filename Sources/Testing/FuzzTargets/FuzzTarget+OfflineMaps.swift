internal import Foundation
internal import GRDBSQLite
internal import OfflineMaps
internal import PMTiles

/// What a device reads of catalogs, of its own folder, and of files of other programs.
extension FuzzTarget {
    /// A document of a catalog; the first byte selects which: catalog, signature, CARTO's list, list of tile packs, what
    /// a share has.
    static func catalog(_ bytes: [UInt8]) -> Verdict {
        guard let first = bytes.first else { return .refused("short") }
        let rest = Array(bytes.dropFirst())
        return switch first {
        case UInt8(ascii: "c"): Verdict(UntrustedBytes.catalog(rest))
        case UInt8(ascii: "s"): Verdict(UntrustedBytes.signature(rest))
        case UInt8(ascii: "p"): Verdict(UntrustedBytes.packages(rest))
        case UInt8(ascii: "r"): Verdict(UntrustedBytes.packList(rest))
        case UInt8(ascii: "h"): Verdict(UntrustedBytes.share(rest))
        default: .refused("selector")
        }
    }

    /// The document next to an installed file.
    static func unit(_ bytes: [UInt8]) -> Verdict { Verdict(UntrustedBytes.unit(bytes)) }

    /// What a file of another program has; the first byte selects: a whole file, the rows of a database that SQLite
    /// writes, a region's JSON, an address of tiles, a directory of PMTiles.
    ///
    /// SQLite itself is slow, so most inputs of this target are of the layers above it.
    static func foreign(_ bytes: [UInt8]) -> Verdict {
        guard let first = bytes.first else { return .refused("short") }
        let rest = Array(bytes.dropFirst())
        switch first {
        case UInt8(ascii: "f"): return inFile { try Data(rest).write(to: $0) }
        case UInt8(ascii: "m"): return inFile { try RowWriter.write(rest, .mbtiles, to: $0) }
        case UInt8(ascii: "d"): return inFile { try RowWriter.write(rest, .maplibre, to: $0) }
        case UInt8(ascii: "r"): return Verdict(UntrustedBytes.region(rest))
        case UInt8(ascii: "t"): return Verdict(UntrustedBytes.template(rest))
        case UInt8(ascii: "p"):
            guard let directory = PMTilesDirectory(rest) else { return .refused("bad-directory") }
            return PMTilesDirectory(directory.encoded) == directory ? .accepted : .wrong("another directory came back")
        default: return .refused("selector")
        }
    }

    private static func inFile(_ write: (URL) throws -> Void) -> Verdict {
        let file = scratch("map")
        defer { unlink(file.path) }
        do { try write(file) } catch { return .refused("scratch") }
        return Verdict(UntrustedBytes.file(file))
    }
}

extension FuzzTarget.Verdict {
    fileprivate init(_ verdict: UntrustedBytes.Verdict) {
        switch verdict {
        case .accepted: self = .accepted
        case .refused(let code): self = .refused(code)
        case .wrong(let what): self = .wrong(what)
        }
    }
}

/// Writes a database whose schema is right and whose cells are anything.
private enum RowWriter {
    enum Schema { case mbtiles, maplibre }

    private struct Failure: Error {}

    /// - Parameter bytes: Cells in turn, each a byte for its type and what the type needs; four or six cells are a row.
    static func write(_ bytes: [UInt8], _ schema: Schema, to file: URL) throws {
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        guard sqlite3_open(file.path, &database) == SQLITE_OK,
            sqlite3_exec(database, setup + (schema == .mbtiles ? mbtiles : maplibre), nil, nil, nil) == SQLITE_OK
        else { throw Failure() }
        var cells = bytes[...]
        for sql in schema == .mbtiles ? [metadataRow, tileRow] : [regionRow, resourceRow, sourceRow] {
            var statement: OpaquePointer?
            defer { sqlite3_finalize(statement) }
            guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else { throw Failure() }
            // A byte before the rows of a table says how many there are.
            for _ in 0..<min(12, cells.popFirst() ?? 0) {
                for number in 1...sqlite3_bind_parameter_count(statement) { bind(&cells, to: number, of: statement) }
                // A row that a constraint refuses is left out.
                _ = sqlite3_step(statement)
                sqlite3_reset(statement)
            }
        }
        guard sqlite3_exec(database, "COMMIT", nil, nil, nil) == SQLITE_OK else { throw Failure() }
    }

    private static func bind(_ cells: inout ArraySlice<UInt8>, to number: Int32, of statement: OpaquePointer?) {
        func next(_ count: Int) -> ArraySlice<UInt8> {
            defer { cells = cells.dropFirst(count) }
            return cells.prefix(count)
        }
        // SQLite copies what it is given.
        let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let kind = cells.popFirst() ?? 0
        switch kind {
        case 0...63: sqlite3_bind_int64(statement, number, Int64(kind))
        case 64...127:
            let bytes = Array(next(Int(kind) - 64))
            sqlite3_bind_text(
                statement, number, String(decoding: bytes, as: UTF8.self), -1, copies)
        case 128...191:
            let bytes = Array(next(Int(kind) - 128))
            sqlite3_bind_blob(statement, number, bytes, Int32(bytes.count), copies)
        case 192:
            let value = next(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            sqlite3_bind_int64(statement, number, Int64(bitPattern: value))
        case 193:
            let value = next(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            sqlite3_bind_double(statement, number, Double(bitPattern: value))
        case 194: sqlite3_bind_text(statement, number, "https://t.example.com/{z}/{x}/{y}.pbf", -1, copies)
        case 195: sqlite3_bind_text(statement, number, region, -1, copies)
        default: sqlite3_bind_null(statement, number)
        }
    }

    private static let region =
        #"{"style_url":"https://t.example.com/s.json","min_zoom":0,"max_zoom":2,"bounds":[10,-80,60,-10]}"#
    private static let setup = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA page_size = 512; "
    private static let mbtiles = """
        BEGIN; CREATE TABLE metadata (name, value);
        CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data);
        CREATE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row);
        """
    private static let metadataRow = "INSERT INTO metadata VALUES (?, ?)"
    private static let tileRow = "INSERT INTO tiles VALUES (?, ?, ?, ?)"
    private static let maplibre = """
        PRAGMA user_version = 6; BEGIN;
        CREATE TABLE resources (id INTEGER PRIMARY KEY, url, kind, expires, etag, data, compressed, UNIQUE (url));
        CREATE TABLE tiles (id INTEGER PRIMARY KEY, url_template, pixel_ratio, z, x, y, expires, data, compressed,
        UNIQUE (url_template, pixel_ratio, z, x, y));
        CREATE TABLE regions (id INTEGER PRIMARY KEY, definition, description);
        CREATE TABLE region_tiles (region_id, tile_id);
        """
    private static let regionRow = "INSERT INTO regions VALUES (NULL, ?, ?)"
    private static let resourceRow = "INSERT INTO resources VALUES (NULL, ?, ?, NULL, NULL, ?, ?)"
    private static let sourceRow = "INSERT INTO tiles VALUES (NULL, ?, ?, ?, ?, ?, NULL, ?, ?)"
}
