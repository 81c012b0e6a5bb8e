public import CatalogFormat
public import Digests
public import Foundation
public import Tiles

/// The same package in another format, published next to the main file.
public struct PublishFile: Sendable, Hashable {
    /// The format's name for clients: 1 to 32 lower-case letters, digits and hyphens; not that of the main file.
    public let format: String
    /// What follows the package's id in the file's name, with its dot: `.pmtiles`.
    public let fileExtension: String
    /// The finished file, usually a blob; it is not moved.
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
    /// The package's id: 1...120 characters of letters, digits and `. _ - ( ) ,`, not beginning with a dot or with a
    /// hyphen, which commands would read as an option.
    public let id: String
    /// The finished main file, usually a blob; it is not moved.
    public let file: URL
    /// SHA-256 of the file.
    public let digest: Digest
    /// Bytes of the file.
    public let size: UInt64
    /// The mask in CARTO's wire form, `text:maxZoom`.
    public let maskWire: String
    /// The same mask, if its maker has it; otherwise it is read from the text where it is needed.
    public var mask: TileMask?
    /// Name paths by language code: `["en": "Europe/Northern Europe/Estonia"]`.
    public let names: [String: String]
    /// The file's `agg_tiles_hash`.
    public let tilesHash: String
    /// The same tiles in other formats.
    public var files: [PublishFile] = []
    /// The format of the main file; `nil` for MBTiles.
    public var format: String?
    /// How it is published.
    public var options = PublishOptions()
    /// The attribution of the data, as text or HTML; at most 4,096 bytes, empty if unknown.
    public var attribution = ""
    /// The build of its source, at most 128 printable characters; `nil` for sources whose address stays.
    public var sourceBuild: String?
    /// How renderers read its tiles: `encoding` of their source; `nil` for the usual ways.
    public var encoding: String?
    /// Width and height at which its pictures are shown, in pixels; `nil` if not said.
    public var tileSize: Int?
    /// Id of the tileset that it was built from; empty if unknown.
    public var tileset = ""
    /// Zooms of its tiles; `nil` if unknown.
    public var zooms: ZoomRange?
    /// Names of the vector layers that its metadata lists, ascending; `nil` if unknown.
    public var layers: [String]?
    /// Upper limit of the tiles of its mask that are missing because they failed; `nil` if unknown.
    ///
    /// All other missing tiles are empty.
    public var failedTiles: UInt64?
    /// Tiles in the file; `nil` if unknown.
    public var tiles: UInt64?
    /// Whether the tile server was asked only for a list of changed tiles.
    public var asksChangedOnly = false
    /// The tile packs of exactly this file; `nil` if it has none.
    public var tilePacks: PublishedPacks?
    /// Its region and the regions above it, if the embedded tree does not have them.
    public var nodes: [CatalogIndex.Node] = []
    /// The entry of another catalog, or of an earlier version, that is published as it is, with a version and addresses of
    /// its own; `nil` for a new package.
    var entry: CatalogEntry?
    /// The folder that has the files of ``tilePacks``, if they may not be in the catalog yet.
    var packsHome: URL?
    /// Which part of a package it is; `nil` for a whole one.
    public var part: CatalogPart?
    /// Of a package that is published in parts: what is published of each, in the order of their numbers.
    ///
    /// Their options are those of this request, whose own files are not published.
    public var parts: [PublishRequest] = []

    /// The ids under which it is listed.
    public var listedIDs: [String] { parts.isEmpty ? [id] : parts.map(\.id) }

    /// Creates a request from the values that every package has; the others are set afterwards.
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

    /// The format and extension of the main file.
    var main: (format: String, fileExtension: String) { entry?.main ?? CatalogEntry.main(format) }

    /// The main file, then the others ascending by format.
    var allFiles: [PublishFile] {
        [
            PublishFile(
                format: main.format, fileExtension: main.fileExtension, url: file, digest: digest, size: size)
        ]
            + files.sorted { $0.format < $1.format }
    }
}

/// The tile packs of a package; their files are already in the catalog.
public struct PublishedPacks: Sendable, Hashable {
    /// The list in its published form.
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

    /// Creates a value from its parts.
    public init(list: [UInt8], files: [Pack]) {
        self.list = list
        self.files = files
    }
}

/// The result of a publication.
public struct Published: Sendable, Hashable {
    /// The version clients see.
    public let version: Int32
    /// The main file in the catalog.
    public let path: URL
    /// Its path inside the catalog's folder.
    public let pathInside: String
    /// Whether the catalog already had all of these bytes.
    ///
    /// A new format is added to the version with the same tiles; then this is `false`, although the version does not
    /// change.
    public let unchanged: Bool
    /// Whether the previous version had tile packs and this version has none.
    public let losesPacks: Bool
}
