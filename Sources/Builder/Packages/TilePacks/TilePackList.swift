public import Digests
internal import Foundation
internal import PackageFiles
internal import Tiles

/// The packs of one region that a client has to download; other regions share their addresses.
public struct TilePackList: Sendable, Hashable, Codable {
    /// One pack.
    public struct Pack: Sendable, Hashable, Codable {
        /// The tile that names it, `z/x/y` with y from the north.
        public let index: String
        /// The shallowest zoom of its tiles.
        public let minZoom: Int
        /// The deepest zoom of its tiles.
        public let maxZoom: Int
        /// Tiles in it.
        public let tiles: UInt64
        /// Bytes of the file.
        public let size: UInt64
        /// SHA-256 of the file.
        public let sha256: String
        /// Where the file is, relative to this list.
        public let url: String
        /// Whether the pack is complete: each tile of its area is in the pack or known to be empty.
        ///
        /// Such a pack is the same in every region. A partial one has the tiles of its region only, so other regions do
        /// not share its address.
        public let isComplete: Bool

        /// Where the file lies in the folder that holds `packs` and `regions`.
        public var path: String { url.hasPrefix("../") ? String(url.dropFirst(3)) : url }

        private enum CodingKeys: String, CodingKey {
            case index, tiles, size, sha256, url
            case minZoom = "min_zoom"
            case maxZoom = "max_zoom"
            case isComplete = "complete"
        }
    }

    /// The region or package.
    public let id: String
    /// The tileset whose packs these are.
    public let tileset: String
    /// How tiles are grouped, as ``PackScheme/init(parsing:)`` reads it.
    public let bands: String
    /// The packs' format: `mbtiles` or `pmtiles`.
    public let format: String
    /// SHA-256 of the package file that was cut, 64 lower-case hexadecimal digits; `nil` in lists of earlier builds.
    public let package: String?
    /// Bytes of all packs.
    public let size: UInt64
    /// Band by band, along the Hilbert curve within a band.
    public let packs: [Pack]
    /// How many packs a client should keep on a device, in all regions together.
    public let packsPerDevice: Int

    private enum CodingKeys: String, CodingKey {
        case id, tileset, bands, format, size, packs
        case package = "package_sha256"
        case packsPerDevice = "tile_packs_per_device"
    }

    /// Source: the limit of Mapbox's clients, which their users know.
    public static let packsPerDevice = 750

    init(_ order: TilePacks.Order, package: Digest, packs: [Pack]) {
        id = order.id
        tileset = order.tileset
        bands = order.scheme.description
        format = order.format.rawValue
        self.package = package.hex
        size = packs.reduce(0) { $0 + $1.size }
        self.packs = packs
        packsPerDevice = Self.packsPerDevice
    }

    /// Where the list of a region lies in its folder.
    public static func path(_ id: String) -> String { "regions/\(id).json" }

    /// Whether the list answers an order; the files of the packs may have been removed since and are not checked.
    ///
    /// - Parameter digest: SHA-256 of the order's package.
    public func answers(_ order: TilePacks.Order, of digest: Digest) -> Bool {
        id == order.id && tileset == order.tileset && bands == order.scheme.description
            && format == order.format.rawValue && package == digest.hex
            && packs.allSatisfy { pack in
                guard let index = TileID(pack.index),
                    let zooms = ZoomRange(min: pack.minZoom, max: pack.maxZoom)
                else { return false }
                let place = PackScheme.Pack(index: index, zooms: zooms)
                return pack.isComplete == order.isComplete(place, tiles: pack.tiles)
            }
    }

    /// The list as it is published: sorted keys, so that equal lists are equal bytes.
    public func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        return [UInt8](try encoder.encode(self)) + [0x0A]
    }
}
