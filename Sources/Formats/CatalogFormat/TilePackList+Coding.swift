internal import Digests
public import Errors
internal import Foundation
internal import Tiles

extension TilePackList: Encodable {
    /// Reads a list from an untrusted source.
    ///
    /// The result can be used without further checks: packs are tiles of the world, paths stay in their edition and below
    /// `packs/`, sizes and counts are bounded, digests have 64 digits. Members besides `tileset` and the place, size,
    /// digest and address of each pack may be missing.
    /// - Parameter name: Of the list, for errors.
    /// - Throws: `catalog-corrupt` naming the list, and the pack where one is wrong.
    public init(decoding bytes: [UInt8], named name: String) throws(CatalogError) {
        guard bytes.count <= Self.maxBytes else {
            throw CatalogError(
                .corrupt, "'\(name)' has \(bytes.count) bytes; a list of tile packs has at most \(Self.maxBytes).")
        }
        let document: Document
        do { document = try JSONDecoder().decode(Document.self, from: Data(bytes)) } catch {
            throw CatalogError(.corrupt, "'\(name)' is not a list of tile packs.", cause: error)
        }
        guard document.packs.count <= Self.maxPacks, 1...200 ~= document.tileset.utf8.count,
            document.tileset.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            ["mbtiles", "pmtiles"].contains(document.format ?? "mbtiles"), document.packsPerDevice ?? 0 >= 0
        else {
            throw CatalogError(
                .corrupt,
                "'\(name)' is not a list of tile packs: its tileset, format or number of packs is not possible.")
        }
        var packs: [Pack] = []
        packs.reserveCapacity(document.packs.count)
        for entry in document.packs { packs.append(try Pack(entry, listedIn: name)) }
        self.init(
            id: document.id, tileset: document.tileset, bands: document.bands, format: document.format ?? "mbtiles",
            package: document.package, packs: packs,
            packsPerDevice: document.packsPerDevice ?? Self.packsPerDevice)
    }

    /// The list as it is published: sorted keys, so that equal lists are equal bytes.
    public func encoded() throws(CatalogError) -> [UInt8] {
        try CatalogJSON.encode(self, named: id.map(Self.path) ?? "regions")
    }

    /// Writes the members of the document.
    public func encode(to encoder: any Encoder) throws {
        let document = Document(
            id: id, tileset: tileset, bands: bands, format: format, package: package, size: size,
            packsPerDevice: packsPerDevice,
            packs: packs.map { pack in
                Entry(
                    index: "\(pack.index)", minZoom: pack.zooms.min, maxZoom: pack.zooms.max, tiles: pack.tiles,
                    size: pack.size, sha256: pack.sha256, url: pack.url, isComplete: pack.isComplete)
            })
        try document.encode(to: encoder)
    }

    private struct Document: Codable {
        var id: String?
        var tileset: String
        var bands: String?
        var format: String?
        var package: String?
        /// Written for readers that show it; computed from the packs where it is read.
        var size: UInt64?
        var packsPerDevice: Int?
        var packs: [Entry]

        private enum CodingKeys: String, CodingKey {
            case id, tileset, bands, format, size, packs
            case package = "package_sha256"
            case packsPerDevice = "tile_packs_per_device"
        }
    }

    fileprivate struct Entry: Codable {
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

extension TilePackList.Pack {
    fileprivate init(_ entry: TilePackList.Entry, listedIn name: String) throws(CatalogError) {
        // The list lies in `regions`, the packs lie next to this folder.
        let path = String(entry.url.dropFirst("../".count))
        guard entry.url.hasPrefix("../packs/"), CatalogIndex.isInside(path) else {
            throw CatalogError(.corrupt, "'\(name)': '\(entry.url.prefix(200))' leads out of the catalog's packs.")
        }
        guard let index = TileID(entry.index), let zooms = ZoomRange(min: entry.minZoom, max: entry.maxZoom),
            index.zoom <= zooms.min, 1...TilePackList.maxFile ~= entry.size,
            Digest(hex: entry.sha256)?.hex == entry.sha256
        else {
            throw CatalogError(
                .corrupt, "'\(name)': the pack '\(path)' has an invalid index, zoom, size or digest.")
        }
        self.init(
            index: index, zooms: zooms, tiles: entry.tiles ?? 0, size: entry.size, sha256: entry.sha256, path: path,
            isComplete: entry.isComplete ?? false)
    }
}
