internal import Foundation
internal import GRDBSQLite
internal import PackageFiles
internal import TileBodies
internal import Tiles

/// One open offline database of MapLibre Native (version 6) with its prepared look-ups.
///
/// Used by one thread at a time: ``HandleSlots`` lends it.
final class MapLibreHandle {
    /// Tiles of one source have the source's first address, with its placeholders.
    struct Source: Sendable {
        var text: String
        var template: TileTemplate?
        var mediaType: String
    }

    /// More sources than these are not read.
    private static let maxSources = 64
    private static let tileSQL = """
        SELECT data, compressed, expires FROM tiles
        WHERE url_template = ?1 AND pixel_ratio = ?2 AND z = ?3 AND x = ?4 AND y = ?5
        """
    private static let resourceSQL = "SELECT data, compressed, expires, etag, kind FROM resources WHERE url = ?1"

    /// The sources that have tiles, sorted by their addresses.
    let sources: [Source]
    private let database: ReadOnlyDatabase
    private let tiles: OpaquePointer
    private let resources: OpaquePointer

    /// Opens a database.
    ///
    /// - Throws: ``TileFileError`` for a missing file, one that is no such database, and one without its indexes.
    init(path: String, isUnchanging: Bool = true) throws(TileFileError) {
        database = try ReadOnlyDatabase(path: path, isUnchanging: isUnchanging)
        try database.requireSearch(Self.tileSQL)
        try database.requireSearch(Self.resourceSQL)
        sources = try Self.sources(database)
        tiles = try database.prepare(Self.tileSQL)
        do throws(TileFileError) { resources = try database.prepare(Self.resourceSQL) } catch {
            sqlite3_finalize(tiles)
            throw error
        }
    }

    deinit {
        sqlite3_finalize(tiles)
        sqlite3_finalize(resources)
    }

    /// What the database has for a tile.
    ///
    /// - Parameter template: The address of the only source to ask; `nil` asks all.
    func find(_ tile: TileID, template: String?) throws(TileFileError) -> StoredTile<StoredBody> {
        var result = StoredTile<StoredBody>.absent
        for source in sources where template == nil || template == source.text {
            for ratio in source.text.contains("{ratio}") ? [1, 2] : [1] {
                switch try find(source, ratio: ratio, zoom: tile.zoom, column: tile.x, row: tile.y) {
                case .body(let body, let expires): return .body(body, expires: expires)
                case .empty: result = .empty
                case .absent: break
                }
            }
        }
        return result
    }

    /// What the database has for an address: a resource, or the tile that a source's template has for it.
    func find(_ address: String) throws(TileFileError) -> StoredTile<StoredResource> {
        ReadOnlyDatabase.bind(address, at: 1, in: resources)
        defer { sqlite3_reset(resources) }
        switch sqlite3_step(resources) {
        case SQLITE_DONE: return try findTile(address)
        case SQLITE_ROW:
            let expires = ReadOnlyDatabase.time(2, resources)
            guard sqlite3_column_type(resources, 0) != SQLITE_NULL else { return .empty }
            let bytes = ReadOnlyDatabase.bytes(0, resources)
            let coding = Self.coding(bytes, isCompressed: sqlite3_column_int(resources, 1) != 0)
            let type = Self.mediaType(kind: sqlite3_column_int(resources, 4), bytes)
            let body = StoredBody(bytes, coding: coding, mediaType: type, expires: expires)
            return .body(StoredResource(body: body, etag: ReadOnlyDatabase.text(3, resources)), expires: expires)
        default: throw database.failure()
        }
    }

    private func findTile(_ address: String) throws(TileFileError) -> StoredTile<StoredResource> {
        var result = StoredTile<StoredResource>.absent
        for source in sources {
            // The row of the address is the row of the database, also where rows are counted from the south.
            guard let tile = source.template?.tile(address) else { continue }
            let isDense = source.text.contains("{ratio}") && address.contains("@2x")
            switch try find(source, ratio: isDense ? 2 : 1, zoom: tile.zoom, column: tile.x, row: tile.y) {
            case .body(let body, let expires): return .body(StoredResource(body: body, etag: nil), expires: expires)
            case .empty: result = .empty
            case .absent: break
            }
        }
        return result
    }

    private func find(
        _ source: Source, ratio: Int, zoom: Int, column: Int, row: Int
    ) throws(TileFileError) -> StoredTile<StoredBody> {
        ReadOnlyDatabase.bind(source.text, at: 1, in: tiles)
        for (number, value) in [ratio, zoom, column, row].enumerated() {
            sqlite3_bind_int64(tiles, Int32(number + 2), Int64(value))
        }
        defer { sqlite3_reset(tiles) }
        switch sqlite3_step(tiles) {
        case SQLITE_DONE: return .absent
        case SQLITE_ROW:
            let bytes = ReadOnlyDatabase.bytes(0, tiles)
            guard !bytes.isEmpty else { return .empty }
            let expires = ReadOnlyDatabase.time(2, tiles)
            let coding = Self.coding(bytes, isCompressed: sqlite3_column_int(tiles, 1) != 0)
            let type = coding == .plain ? StoredBody.imageType(bytes) ?? source.mediaType : source.mediaType
            return .body(StoredBody(bytes, coding: coding, mediaType: type, expires: expires), expires: expires)
        default: throw database.failure()
        }
    }

    /// Jumps from one address to the next along the index of the tiles.
    private static func sources(_ database: ReadOnlyDatabase) throws(TileFileError) -> [Source] {
        let statement = try database.prepare("SELECT min(url_template) FROM tiles WHERE url_template > ?1")
        defer { sqlite3_finalize(statement) }
        var (sources, last) = ([Source](), "")
        while sources.count < maxSources {
            ReadOnlyDatabase.bind(last, at: 1, in: statement)
            defer { sqlite3_reset(statement) }
            guard sqlite3_step(statement) == SQLITE_ROW else { throw database.failure() }
            // Addresses with a zero byte inside would be found again and again.
            guard let text = ReadOnlyDatabase.text(0, statement),
                last.utf8.lexicographicallyPrecedes(text.utf8)
            else { break }
            sources.append(Source(text: text, template: TileTemplate(text), mediaType: mediaType(template: text)))
            last = text
        }
        return sources
    }

    private static func coding(_ bytes: Data, isCompressed: Bool) -> Coding {
        guard isCompressed else { return .plain }
        // Newer engines also read gzip here.
        return bytes.starts(with: [0x1F, 0x8B]) ? .gzip : .zlib
    }

    private static func mediaType(template: String) -> String {
        (TileFormat(ofAddress: template.replacing("{ratio}", with: "")) ?? .mvt).mediaType
    }

    /// - Parameter kind: The number of MapLibre Native: 1 style, 2 source, 4 glyphs, 5 sprite image, 6 sprite table, 7 image.
    private static func mediaType(kind: Int32, _ bytes: Data) -> String {
        switch kind {
        case 1, 2, 6: "application/json"
        case 4: "application/x-protobuf"
        case 5, 7: StoredBody.imageType(bytes) ?? "image/png"
        default: StoredBody.imageType(bytes) ?? "application/octet-stream"
        }
    }
}

/// A resource as a file has it.
struct StoredResource {
    var body: StoredBody
    var etag: String?
}
