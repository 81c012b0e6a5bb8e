public import Tiles

/// The tile packs of one package that a client has to download, `regions/<id>.json`; other packages share their
/// addresses.
///
/// ``init(decoding:named:)`` is the only reader and ``encoded()`` the only writer of these documents.
public struct TilePackList: Sendable, Hashable {
    /// One pack.
    public struct Pack: Sendable, Hashable {
        /// The tile that names it; its zoom is not below the shallowest of ``zooms``.
        public let index: TileID
        /// The zooms of its tiles.
        public let zooms: ZoomRange
        /// Tiles in it; 0 if unknown.
        public let tiles: UInt64
        /// Bytes of the file, 1 to ``TilePackList/maxFile``.
        public let size: UInt64
        /// SHA-256 of the file, 64 lower-case hexadecimal digits.
        public let sha256: String
        /// Where the file lies in its edition's folder, which also holds `regions`: `packs/…`.
        public let path: String
        /// Whether the pack is complete: each tile of its area is in the pack or known to be empty.
        ///
        /// Such a pack is the same in every region. A partial one has the tiles of its region only, so other regions do
        /// not share its address.
        public let isComplete: Bool

        /// Where the file is, relative to the list.
        public var url: String { "../" + path }

        package init(
            index: TileID, zooms: ZoomRange, tiles: UInt64, size: UInt64, sha256: String, path: String, isComplete: Bool
        ) {
            self.index = index
            self.zooms = zooms
            self.tiles = tiles
            self.size = size
            self.sha256 = sha256
            self.path = path
            self.isComplete = isComplete
        }
    }

    /// The region or package; `nil` in lists of other programs.
    public let id: String?
    /// The tileset whose packs these are: 1 to 200 bytes without control characters.
    public let tileset: String
    /// How tiles are grouped, as `PackScheme` reads it; `nil` in lists of other programs.
    public let bands: String?
    /// The packs' format: `mbtiles` or `pmtiles`.
    public let format: String
    /// SHA-256 of the package file that was cut, 64 lower-case hexadecimal digits; `nil` in lists of earlier builds.
    public let package: String?
    /// Band by band, along the Hilbert curve within a band.
    public let packs: [Pack]
    /// How many packs a client should keep on a device, in all regions together.
    public let packsPerDevice: Int

    /// Source: the limit of Mapbox's clients, which their users know.
    public static let packsPerDevice = 750

    /// The largest list that is read, in bytes.
    public static let maxBytes = 64 << 20
    /// The most packs of a list that is read; above the packs of any country at zoom 14.
    public static let maxPacks = 200_000
    /// The largest file of a catalog that a device accepts, in bytes: 1 TiB.
    public static let maxFile: UInt64 = 1 << 40

    package init(
        id: String?, tileset: String, bands: String?, format: String, package: String?, packs: [Pack],
        packsPerDevice: Int = TilePackList.packsPerDevice
    ) {
        self.id = id
        self.tileset = tileset
        self.bands = bands
        self.format = format
        self.package = package
        self.packs = packs
        self.packsPerDevice = packsPerDevice
    }

    /// Bytes of all packs.
    public var size: UInt64 { packs.reduce(0) { $0 + $1.size } }

    /// Where the list of a package lies in its edition's folder.
    public static func path(_ id: String) -> String { "regions/\(id).json" }
}
