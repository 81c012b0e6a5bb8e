/// `catalog.json`: everything that a client can install, all editions in one document.
///
/// Addresses are relative to the document, so that a mirror can serve the same bytes and the signature stays valid. The
/// bytes depend only on the lists below it and contain no times.
public struct CatalogIndex: Sendable, Hashable, Codable {
    /// Limits that a client should not exceed.
    public struct Limits: Sendable, Hashable, Codable {
        /// Tile packs on one device.
        ///
        /// Source: the limit of Mapbox, which its users know.
        public var tilePacksPerDevice = 750

        /// Creates the limits that this build writes.
        public init() {}

        private enum CodingKeys: String, CodingKey { case tilePacksPerDevice = "tile_packs_per_device" }
    }

    /// A node of the world tree that has packages at or below it.
    public struct Node: Sendable, Hashable, Codable {
        /// The region's id: `EE`, `DE-BY`, `150`.
        public var id: String
        /// The id of the node above; absent for the world.
        public var parent: String?
        /// `world`, `continent`, `subcontinent`, `country` or `region`.
        public var kind: String
        /// Names by language code.
        public var names: [String: String]

        /// A node from its parts.
        public init(id: String, parent: String?, kind: String, names: [String: String]) {
            self.id = id
            self.parent = parent
            self.kind = kind
            self.names = names
        }
    }

    /// A part of the catalog with a `packages.json` of its own.
    public struct Edition: Sendable, Hashable, Codable {
        /// Sub-folder, ending in a slash; empty for the catalog itself.
        public var path: String
        /// Group of data; absent for the base map.
        public var group: String?
        /// Language of the names in the tiles; absent if the tiles have no names or all languages.
        public var language: String?
        /// The edition's `packages.json`.
        ///
        /// Its digest is here, so that the signature also covers CARTO's list.
        public var list: List
        /// Packages in it.
        public var packages: Int
        /// Bytes of the newest versions, by format.
        public var sizes: [String: Int64]

        package init(
            path: String,
            group: String? = nil,
            language: String? = nil,
            list: List,
            packages: Int,
            sizes: [String: Int64]
        ) {
            self.path = path
            self.group = group
            self.language = language
            self.list = list
            self.packages = packages
            self.sizes = sizes
        }
    }

    /// A document of the catalog.
    public struct List: Sendable, Hashable, Codable {
        /// Address, relative to the document.
        public var url: String
        /// Exact bytes.
        public var size: Int64
        /// SHA-256, 64 lower-case hexadecimal digits.
        public var sha256: String

        package init(
            url: String,
            size: Int64,
            sha256: String
        ) {
            self.url = url
            self.size = size
            self.sha256 = sha256
        }
    }

    /// One file of a version.
    public struct File: Sendable, Hashable, Codable {
        /// What the format is called; `mbtiles` is always there, or `opaque` for a companion.
        public var format: String
        /// Address, relative to the document.
        public var url: String
        /// Exact bytes.
        public var size: Int64
        /// SHA-256, 64 lower-case hexadecimal digits.
        public var sha256: String

        package init(
            format: String,
            url: String,
            size: Int64,
            sha256: String
        ) {
            self.format = format
            self.url = url
            self.size = size
            self.sha256 = sha256
        }
    }

    /// A patch that turns a file of another version into the file of the same format of this version.
    public struct Patch: Sendable, Hashable, Codable {
        /// The version it is for.
        public var from: Int32
        /// The format of both files; absent for `mbtiles`.
        public var format: String?
        /// Address, relative to the document.
        public var url: String
        /// Exact bytes.
        public var size: Int64
        /// SHA-256, 64 lower-case hexadecimal digits.
        public var sha256: String

        package init(
            from: Int32,
            format: String? = nil,
            url: String,
            size: Int64,
            sha256: String
        ) {
            self.from = from
            self.format = format
            self.url = url
            self.size = size
            self.sha256 = sha256
        }
    }

    /// A version whose files are kept.
    public struct Version: Sendable, Hashable, Codable {
        /// Counts from 1.
        public var version: Int32
        /// CARTO's text, a colon, the deepest zoom.
        public var tileMask: String
        /// Equal for equal tiles.
        public var tilesHash: String
        /// Id of the tileset; absent if unknown.
        public var tileset: String?
        /// The shallowest zoom; absent if unknown.
        public var minZoom: Int?
        /// The deepest zoom; absent if unknown.
        public var maxZoom: Int?
        /// The attribution of the data; absent if unknown.
        public var attribution: String?
        /// How old the data is, as its source says; absent if unknown.
        public var dataDate: String?
        /// The build of its source, for sources whose address changes with each build: `20261124`; absent for others.
        public var sourceBuild: String?
        /// `changed` when its build asked the tile server only for a list of changed tiles; else absent.
        public var asked: String?
        /// How renderers read the tiles, `mlt`, `terrarium` or `mapbox`: `encoding` of their source; absent for the usual ways.
        public var encoding: String?
        /// Width and height at which pictures are shown, in pixels; absent if not said.
        public var tileSize: Int?
        /// What its file is; absent for a map.
        public var companion: CatalogCompanion?
        /// The main file, then other formats.
        public var files: [File]
        /// From earlier versions to this one, newest first.
        public var patches: [Patch]

        package init(
            version: Int32,
            tileMask: String,
            tilesHash: String,
            tileset: String? = nil,
            minZoom: Int? = nil,
            maxZoom: Int? = nil,
            attribution: String? = nil,
            dataDate: String? = nil,
            sourceBuild: String? = nil,
            asked: String? = nil,
            encoding: String? = nil,
            tileSize: Int? = nil,
            companion: CatalogCompanion? = nil,
            files: [File],
            patches: [Patch]
        ) {
            self.version = version
            self.tileMask = tileMask
            self.tilesHash = tilesHash
            self.tileset = tileset
            self.minZoom = minZoom
            self.maxZoom = maxZoom
            self.attribution = attribution
            self.dataDate = dataDate
            self.sourceBuild = sourceBuild
            self.asked = asked
            self.encoding = encoding
            self.tileSize = tileSize
            self.companion = companion
            self.files = files
            self.patches = patches
        }

        private enum CodingKeys: String, CodingKey {
            case version, tileset, attribution, encoding, files, patches, asked, companion
            case tileSize = "tile_size"
            case tileMask = "tile_mask"
            case tilesHash = "agg_tiles_hash"
            case minZoom = "min_zoom"
            case maxZoom = "max_zoom"
            case dataDate = "data_date"
            case sourceBuild = "source_build"
        }

        /// The file of a format.
        public func file(_ format: String) -> File? { files.first { $0.format == format } }

        /// The patch from a version for a format.
        public func patch(from version: Int32, _ format: String) -> Patch? {
            patches.first { $0.from == version && $0.format ?? CatalogEntry.mainFile.format == format }
        }
    }

    /// A package of one edition.
    public struct Package: Sendable, Hashable, Codable {
        /// The package's id.
        public var id: String
        /// Path of its edition.
        public var edition: String
        /// The node that the package covers; absent for boxes and user-defined areas.
        public var region: String?
        /// Name paths by language: `Europe/Northern Europe/Estonia`.
        public var names: [String: String]
        /// The newest first; never empty.
        public var versions: [Version]
        /// The list of the package's tile packs; absent if it has none.
        public var tilePacks: List?
        /// Which part of a package it is; absent for a whole one.
        public var part: CatalogPart?

        package init(
            id: String,
            edition: String,
            region: String? = nil,
            names: [String: String],
            versions: [Version],
            tilePacks: List? = nil,
            part: CatalogPart? = nil
        ) {
            self.id = id
            self.edition = edition
            self.region = region
            self.names = names
            self.versions = versions
            self.tilePacks = tilePacks
            self.part = part
        }

        private enum CodingKeys: String, CodingKey {
            case id, edition, region, names, versions, part
            case tilePacks = "tile_packs"
        }
    }

    /// A style pack: what a style needs besides tiles, as one ZIP archive.
    public struct Style: Sendable, Hashable, Codable {
        /// The style's id in the catalog.
        public var id: String
        /// The style's name for people; absent if it has none.
        public var name: String?
        /// Counts from 1; different bytes have a different version.
        public var version: Int32
        /// Address, relative to the document.
        public var url: String
        /// Exact bytes.
        public var size: Int64
        /// SHA-256, 64 lower-case hexadecimal digits.
        public var sha256: String

        package init(
            id: String,
            name: String? = nil,
            version: Int32,
            url: String,
            size: Int64,
            sha256: String
        ) {
            self.id = id
            self.name = name
            self.version = version
            self.url = url
            self.size = size
            self.sha256 = sha256
        }
    }

    /// Always ``formatName``.
    public var format = Self.formatName
    /// Grows with every new version of a package or style: the sum of their newest versions.
    ///
    /// A document with a smaller number is older. Documents of earlier builds do not have this member.
    public var sequence: Int64?
    /// Always ``formatVersion`` in documents of this build.
    public var formatVersion = Self.formatVersion
    /// Limits that a client should not exceed.
    public var limits = Limits()
    /// Parents before children.
    public var tree: [Node] = []
    /// Ascending by path.
    public var editions: [Edition] = []
    /// Ascending by edition, then id.
    public var packages: [Package] = []
    /// Style packs, ascending by id; absent when there are none.
    public var styles: [Style]?
    /// Base addresses of other servers that have the same files, in the order in which they are asked; absent when there
    /// are none.
    public var mirrors: [String]?

    private enum CodingKeys: String, CodingKey {
        case format, sequence, limits, tree, editions, packages, styles, mirrors
        case formatVersion = "format_version"
    }

    /// The value of the member `format`.
    public static let formatName = "packhorse-catalog"
    /// The version of the document that this build reads and writes.
    public static let formatVersion = 1
    /// The document's name in a catalog.
    public static let fileName = "catalog.json"
    /// The signature's name in a catalog.
    public static let signatureName = "catalog.json.sig"
    /// Larger documents are refused.
    ///
    /// Unit: bytes, 256 MiB; 600 packages with three versions are 2 MB.
    public static let maxBytes = 256 << 20

    package init() {}

    /// The package of an edition.
    public func package(_ id: String, in edition: CatalogEdition) -> Package? {
        packages.first { $0.id == id && $0.edition == edition.path }
    }
}
