internal import Errors
public import Foundation
internal import PackageFiles
public import Tiles

/// Which tiles an MBTiles file holds and what its metadata says; bodies are not read.
public struct MBTilesContents: Sendable {
    /// The tiles and their ancestors, down to the deepest zoom there is.
    public let mask: TileMask
    /// Zooms of its tiles.
    public let zooms: ZoomRange
    /// The rows of `metadata` by name, without the seal.
    public let metadata: [String: String]

    /// Reads a file of any dialect.
    ///
    /// Memory: 16 bytes a tile. Blocks while it reads the index.
    /// - Throws: `PackagesError` `bad-source` for a file that is not MBTiles, or has no tiles.
    public static func read(_ url: URL) throws -> MBTilesContents {
        do throws(ArchiveError) {
            let archive = try MBTilesArchive(path: url.path, .batch(url.path))
            let metadata = try archive.facts().rows
            var tiles: [TileID] = []
            var (least, most) = (Int.max, Int.min)
            do {
                try archive.tiles { tile, _, _ in
                    (least, most) = (min(least, tile.zoom), max(most, tile.zoom))
                    tiles.append(tile)
                }
            } catch { throw ArchiveError(reading: error, url.path) }
            guard let zooms = ZoomRange(min: least, max: most) else {
                throw ArchiveError(.badArchive, "'\(url.path)' has no tiles.")
            }
            return MBTilesContents(mask: TileMask(tiles: tiles, maxZoom: most), zooms: zooms, metadata: metadata)
        } catch { throw PackagesError(error) }
    }

    /// Names of the vector layers that the metadata of an MBTiles or PMTiles file lists, ascending; `nil` when it lists none, and for a
    /// file that cannot be read.
    ///
    /// Reads no tile.
    public static func layers(of url: URL) -> [String]? {
        // A package that is published: its metadata is read at once, without the look-ups that tell what any file is.
        if let text = try? metadataRow("json", of: url) { return layers(in: ["json": text]) }
        // A file that is no archive has no layers to compare.
        guard let archive = try? TileArchives.readable(url), let facts = try? archive.facts() else {
            return nil
        }
        return layers(in: facts.rows)
    }

    /// A value of an MBTiles file's metadata; `nil` when it has none of that name.
    private static func metadataRow(_ name: String, of url: URL) throws(ArchiveError) -> String? {
        let database = try ReadOnlyDatabase(path: url.path, .batch(url.path))
        let row = try database.prepare("SELECT value FROM metadata WHERE name = ?1 LIMIT 1")
        row.bind(name, at: 1)
        return try row.step() ? row.text(0) : nil
    }

    /// The same for metadata that was read; longer lists than a map can have are not known.
    public static func layers(in metadata: [String: String]) -> [String]? {
        struct Rows: Decodable {
            struct Layer: Decodable { let id: String }
            let layers: [Layer]
            enum CodingKeys: String, CodingKey { case layers = "vector_layers" }
        }
        guard let text = metadata["json"],
            // Metadata of other programs may be anything; then the layers are not known.
            let rows = try? JSONDecoder().decode(Rows.self, from: Data(text.utf8)),
            1...500 ~= rows.layers.count, rows.layers.allSatisfy({ 1...200 ~= $0.id.utf8.count })
        else { return nil }
        return Set(rows.layers.map(\.id)).sorted()
    }
}
