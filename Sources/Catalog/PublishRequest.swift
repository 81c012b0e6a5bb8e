public import Foundation
public import Shards
public import Tiles

/// The same package in another format, published beside the main file.
public struct PublishFile: Sendable, Hashable {
    /// What clients call the format: 1 to 32 small letters, digits and hyphens, not `mbtiles`, which is the main file's.
    public let format: String
    /// What follows the package's id in the file's name, with its dot: `.pmtiles`.
    public let fileExtension: String
    /// The finished file, usually a blob; it stays where it is.
    public let url: URL
    /// SHA-256 of the file.
    public let digest: Digest
    /// Bytes of the file.
    public let size: UInt64

    /// Makes a file from its parts.
    public init(format: String, fileExtension: String, url: URL, digest: Digest, size: UInt64) {
        self.format = format
        self.fileExtension = fileExtension
        self.url = url
        self.digest = digest
        self.size = size
    }
}

/// A finished package to put into the catalog.
public struct PublishRequest: Sendable {
    /// The package's id: 1...120 characters of letters, digits and `. _ - ( ) ,`, not beginning with a dot or a hyphen, which commands
    /// would take for an option.
    public let id: String
    /// The finished MBTiles file, usually a blob; it stays where it is.
    public let file: URL
    /// SHA-256 of the file.
    public let digest: Digest
    /// Bytes of the file.
    public let size: UInt64
    /// The mask in CARTO's wire form, `text:maxZoom`.
    public let maskWire: String
    /// Name paths by language code: `["en": "Europe/Northern Europe/Estonia"]`.
    public let names: [String: String]
    /// The file's `agg_tiles_hash`.
    public let tilesHash: String
    /// The same tiles in other formats.
    public var files: [PublishFile] = []
    /// The part of the catalog it belongs to.
    public var edition = CatalogEdition.main
    /// Whom to thank, as text or HTML; at most 4,096 bytes, empty when not told.
    public var attribution = ""
    /// How old the data is, as its source says: `2026-10-01`.
    ///
    /// At most 40 printable characters; `nil` when not told.
    public var dataDate: String?
    /// Id of the tileset that it was built from; empty when not told.
    public var tileset = ""
    /// Zooms of its tiles; `nil` when not told.
    public var zooms: ZoomRange?
    /// Whether it may take the place of a package of another tileset.
    public var replacesTileset = false
    /// At most how many tiles of its mask it lacks because they failed; `nil` when not known.
    ///
    /// The others that it lacks are empty.
    public var failedTiles: UInt64?
    /// Whether it may take the place of a package of another area, and be smaller where its area or zooms are not those of that one.
    public var replacesArea = false
    /// Whether it may have less than half of the tiles or bytes of the listed version.
    public var allowsShrink = false
    /// Tiles in the file; `nil` when not told.
    public var tiles: UInt64?
    /// The tile packs that this very file was cut into; `nil` when it was not.
    public var tilePacks: PublishedPacks?
    /// Its region and those above it, where the embedded tree does not have them.
    public var nodes: [CatalogIndex.Node] = []

    /// Makes a request from the parts that every package has; the others are set afterwards.
    public init(
        id: String, file: URL, digest: Digest, size: UInt64, maskWire: String, names: [String: String],
        tilesHash: String
    ) {
        self.id = id
        self.file = file
        self.digest = digest
        self.size = size
        self.maskWire = maskWire
        self.names = names
        self.tilesHash = tilesHash
    }

    /// The main file's format and extension.
    static let main = (format: "mbtiles", fileExtension: ".mbtiles")

    /// The main file, then the others ascending by format.
    var allFiles: [PublishFile] {
        [
            PublishFile(
                format: Self.main.format, fileExtension: Self.main.fileExtension, url: file, digest: digest, size: size)
        ]
            + files.sorted { $0.format < $1.format }
    }
}

/// The tile packs of a package, which lie in the catalog already.
public struct PublishedPacks: Sendable, Hashable {
    /// The list as it is to be published.
    public let list: [UInt8]
    /// Every pack of the list: its path inside the edition's folder, and its length.
    public let files: [Pack]

    /// One pack.
    public struct Pack: Sendable, Hashable {
        /// Path inside the edition's folder.
        public let path: String
        /// Bytes.
        public let size: UInt64

        /// A pack at a path.
        public init(path: String, size: UInt64) {
            self.path = path
            self.size = size
        }
    }

    /// Makes it of its parts.
    public init(list: [UInt8], files: [Pack]) {
        self.list = list
        self.files = files
    }
}

/// Where a package went.
public struct Published: Sendable, Hashable {
    /// The version clients see.
    public let version: Int32
    /// The main file in the catalog.
    public let path: URL
    /// Whether the catalog had all of these bytes already.
    ///
    /// A format that was not there is added to the version whose tiles it holds; then this is `false`, although the version stays.
    public let unchanged: Bool
    /// Whether the version before had tile packs, and this one, which was not cut, has none.
    public let losesPacks: Bool
}
