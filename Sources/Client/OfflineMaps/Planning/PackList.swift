internal import CatalogFormat
internal import Digests
internal import Foundation
internal import Tiles

/// The tile packs of one package, from `regions/<id>.json` of a catalog.
///
/// Safe on hostile bytes: paths stay below `packs/` of the list's edition, sizes and counts are bounded, and packs are
/// tiles of the world.
struct PackList: Sendable, Hashable {
    /// One pack.
    struct Pack: Sendable, Hashable {
        /// The tile that names it.
        var index: TileID
        /// The zooms of its tiles.
        var zooms: ZoomRange
        /// Where the file lies, below the catalog's folder.
        var path: String
        var size: UInt64
        /// 64 lower-case hexadecimal digits.
        var sha256: String
        /// Whether every tile of its area is in it or known to be empty; then other packages have the same file.
        var isComplete: Bool
        var tiles: UInt64
    }

    /// The largest list that is read, in bytes.
    static let maxBytes = 64 << 20
    private static let maxPacks = 200_000

    var tileset: String
    /// `mbtiles` or `pmtiles`.
    var format: Format
    var packs: [Pack]

    /// Reads a list whose size and digest the catalog has stated.
    ///
    /// - Parameter path: Of the list, below the catalog's folder: `de/regions/EE.json`.
    /// - Returns: `nil` for anything that is no such list.
    init?(_ bytes: Data, at path: String) {
        // Every error means: not a pack list.
        guard bytes.count <= Self.maxBytes, let document = try? JSONDecoder().decode(Document.self, from: bytes),
            document.packs.count <= Self.maxPacks, 1...200 ~= document.tileset.utf8.count,
            document.tileset.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            let end = path.range(of: "regions/", options: .backwards)
        else { return nil }
        let format = Format(document.format ?? Format.mbtiles.name)
        guard [.mbtiles, .pmtiles].contains(format) else { return nil }
        (tileset, self.format, packs) = (document.tileset, format, [])
        let edition = String(path[..<end.lowerBound])
        packs.reserveCapacity(document.packs.count)
        for entry in document.packs {
            guard let pack = Pack(entry, edition) else { return nil }
            packs.append(pack)
        }
    }

    fileprivate struct Document: Decodable {
        var tileset: String
        var format: String?
        var packs: [Entry]
    }

    fileprivate struct Entry: Decodable {
        var index: String
        var minZoom: Int
        var maxZoom: Int
        var tiles: UInt64?
        var size: UInt64
        var sha256: String
        var url: String
        var isComplete: Bool?

        private enum CodingKeys: String, CodingKey {
            case index, tiles, size, sha256, url
            case minZoom = "min_zoom"
            case maxZoom = "max_zoom"
            case isComplete = "complete"
        }
    }
}

extension PackList.Pack {
    fileprivate init?(_ entry: PackList.Entry, _ edition: String) {
        // The list lies in `regions`, the packs lie next to this folder.
        guard entry.url.hasPrefix("../packs/"), let index = TileID(entry.index),
            let zooms = ZoomRange(min: entry.minZoom, max: entry.maxZoom), index.zoom <= zooms.min,
            1...UInt64(CatalogContent.Limit.file) ~= entry.size, Digest(hex: entry.sha256)?.hex == entry.sha256
        else { return nil }
        let path = edition + entry.url.dropFirst("../".count)
        guard CatalogIndex.isInside(path) else { return nil }
        self.init(
            index: index, zooms: zooms, path: path, size: entry.size, sha256: entry.sha256,
            isComplete: entry.isComplete ?? false, tiles: entry.tiles ?? 0)
    }

    /// The tiles that it can have: a part of the package when it is not complete.
    func mask(in package: TileMask) -> TileMask {
        isComplete
            ? TileMask(tiles: [index], maxZoom: index.zoom).expanded(toZoom: zooms.max)
            : package.restricted(to: index).clipped(toZoom: zooms.max)
    }
}
