internal import Errors
internal import Foundation
internal import PackageFiles
internal import TileBodies
internal import Tiles

/// One open offline database of MapLibre Native (version 6) with its prepared look-ups.
///
/// Used by one thread at a time: ``HandleSlots`` lends it. It is no `TileArchive`: one file has the tiles of several addresses and
/// pixel ratios, each with an expiry, and resources, where an archive has one body for a place and the facts of one
/// tileset. Opening, statements and errors are those of the archives (`ReadOnlyDatabase`).
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
    private let tiles: ReadStatement
    private let resources: ReadStatement

    /// Opens a database.
    ///
    /// - Throws: ``ArchiveError`` for a missing file, one that is no such database, and one without its indexes.
    init(path: String, _ access: ArchiveAccess) throws(ArchiveError) {
        let database = try ReadOnlyDatabase(path: path, access)
        try database.requireSearch(Self.tileSQL)
        try database.requireSearch(Self.resourceSQL)
        sources = try Self.sources(database)
        tiles = try database.prepare(Self.tileSQL)
        resources = try database.prepare(Self.resourceSQL)
    }

    /// What the database has for a tile.
    ///
    /// - Parameter template: The address of the only source to ask; `nil` asks all.
    func find(_ tile: TileID, template: String?) throws(ArchiveError) -> StoredTile<StoredBody> {
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
    func find(_ address: String) throws(ArchiveError) -> StoredTile<StoredResource> {
        resources.bind(address, at: 1)
        defer { resources.reset() }
        guard try resources.step() else { return try findTile(address) }
        let expires = resources.time(2)
        guard !resources.isNull(0) else { return .empty }
        let bytes = Data(resources.bytes(0))
        let coding = Self.coding(bytes, isCompressed: resources.int(1) != 0)
        let type = Self.mediaType(kind: resources.int(4), bytes)
        let body = StoredBody(bytes, coding: coding, mediaType: type, expires: expires)
        return .body(StoredResource(body: body, etag: resources.text(3)), expires: expires)
    }

    private func findTile(_ address: String) throws(ArchiveError) -> StoredTile<StoredResource> {
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
    ) throws(ArchiveError) -> StoredTile<StoredBody> {
        tiles.bind(source.text, at: 1)
        for (number, value) in [ratio, zoom, column, row].enumerated() {
            tiles.bind(Int64(value), at: Int32(number + 2))
        }
        defer { tiles.reset() }
        guard try tiles.step() else { return .absent }
        let bytes = Data(tiles.bytes(0))
        guard !bytes.isEmpty else { return .empty }
        let expires = tiles.time(2)
        let coding = Self.coding(bytes, isCompressed: tiles.int(1) != 0)
        let type = coding == .plain ? StoredBody.imageType(bytes) ?? source.mediaType : source.mediaType
        return .body(StoredBody(bytes, coding: coding, mediaType: type, expires: expires), expires: expires)
    }

    /// Jumps from one address to the next along the index of the tiles.
    private static func sources(_ database: ReadOnlyDatabase) throws(ArchiveError) -> [Source] {
        let statement = try database.prepare("SELECT min(url_template) FROM tiles WHERE url_template > ?1")
        var (sources, last) = ([Source](), "")
        while sources.count < maxSources {
            statement.bind(last, at: 1)
            defer { statement.reset() }
            // Addresses with a zero byte inside would be found again and again.
            guard try statement.step(), let text = statement.text(0),
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
