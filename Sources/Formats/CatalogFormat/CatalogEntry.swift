internal import Tiles

/// One package of `packages.json`, as clients see it.
///
/// Keys and types are those that CARTO's client reads: whole numbers, no nulls, every member present. `sha256`,
/// `agg_tiles_hash` and the members after them are extra keys, which that client ignores. Lists of earlier builds do
/// not have the members after `agg_tiles_hash`.
public struct CatalogEntry: Sendable, Hashable, Codable {
    /// The package in another format.
    public struct File: Sendable, Hashable, Codable {
        /// The name of the format.
        public let format: String
        /// What follows the id in the file's name, with its dot.
        public let fileExtension: String
        /// Absolute address of the file.
        public let url: String
        /// Exact bytes of the file.
        public let size: Int64
        /// SHA-256 of the file, 64 lower-case hexadecimal digits.
        public let sha256: String

        package init(
            format: String,
            fileExtension: String,
            url: String,
            size: Int64,
            sha256: String
        ) {
            self.format = format
            self.fileExtension = fileExtension
            self.url = url
            self.size = size
            self.sha256 = sha256
        }

        enum CodingKeys: String, CodingKey {
            case format
            case fileExtension = "extension"
            case url
            case size
            case sha256
        }
    }

    /// A patch that turns a file of an earlier version into the file of the same format of this version.
    public struct Patch: Sendable, Hashable, Codable {
        /// The version it is for.
        public let from: Int32
        /// The format of both files; `nil` for the main file.
        public let format: String?
        /// Absolute address of the file.
        public let url: String
        /// Exact bytes of the file.
        public let size: Int64
        /// SHA-256 of the file, 64 lower-case hexadecimal digits.
        public let sha256: String

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

    /// The package's id, unique in the list.
    public let id: String
    /// Counts from 1; different bytes have a different version.
    public private(set) var version: Int32
    /// Exact bytes of the file.
    public let size: Int64
    /// Absolute address of the file.
    public private(set) var url: String
    /// The package's tiles: CARTO's text, a colon, the deepest zoom.
    public let tileMask: String
    /// Name paths by language: `name_en` is "Europe/Northern Europe/Estonia".
    public let metainfo: [String: String]
    /// SHA-256 of the file, 64 lower-case hexadecimal digits.
    public let sha256: String
    /// The file's `agg_tiles_hash`: equal for equal tiles.
    public let tilesHash: String
    /// The attribution of the data; `nil` if unknown.
    public let attribution: String?
    /// The format of the main file; `nil` for MBTiles.
    public let format: String?
    /// How old the data is, as its source says; `nil` if unknown.
    public let dataDate: String?
    /// The build of its source, for sources whose address changes with each build; `nil` for others.
    public let sourceBuild: String?
    /// `changed` when its build asked the tile server only for a list of changed tiles and took the rest from an earlier build; else `nil`.
    public let asked: String?
    /// How renderers read the tiles: `encoding` of their source; `nil` for the usual ways.
    public let encoding: String?
    /// Width and height at which pictures are shown, in pixels; `nil` if not said.
    public let tileSize: Int?
    /// Id of the tileset it was built from; `nil` if unknown.
    public private(set) var tileset: String?
    /// Tiles in the main file; `nil` if unknown.
    public let tiles: Int64?
    /// The shallowest zoom of its tiles; `nil` if unknown.
    public let minZoom: Int?
    /// The deepest zoom of its tiles; `nil` if unknown.
    public let maxZoom: Int?
    /// Names of the vector layers that its metadata lists, ascending; `nil` if unknown, and for pictures.
    public let layers: [String]?
    /// Upper limit of the tiles of its mask that are missing because they failed; `nil` if unknown.
    ///
    /// With 0, every tile that is in the mask and not in the file is empty.
    public let failedTiles: UInt64?
    /// Its region and those above it, where the embedded tree does not have them; `nil` for others.
    public let nodes: [CatalogIndex.Node]?
    /// Which part of a package it is; `nil` for a whole one.
    public let part: CatalogPart?
    /// What its file is; `nil` for a map.
    public let companion: CatalogCompanion?
    private var listedFiles: [File]?
    package private(set) var listedPatches: [Patch]?
    package private(set) var skippedPatches: [Int32]?
    /// The same for patches of other formats than the main one, by format.
    package private(set) var skippedFilePatches: [String: [Int32]]?

    package init(
        id: String,
        version: Int32,
        size: Int64,
        url: String,
        tileMask: String,
        metainfo: [String: String],
        sha256: String,
        tilesHash: String,
        attribution: String? = nil,
        format: String? = nil,
        dataDate: String? = nil,
        sourceBuild: String? = nil,
        asked: String? = nil,
        encoding: String? = nil,
        tileSize: Int? = nil,
        tileset: String? = nil,
        tiles: Int64? = nil,
        minZoom: Int? = nil,
        maxZoom: Int? = nil,
        layers: [String]? = nil,
        failedTiles: UInt64? = nil,
        nodes: [CatalogIndex.Node]? = nil,
        part: CatalogPart? = nil,
        companion: CatalogCompanion? = nil,
        listedFiles: [File]? = nil,
        listedPatches: [Patch]? = nil,
        skippedPatches: [Int32]? = nil,
        skippedFilePatches: [String: [Int32]]? = nil
    ) {
        self.id = id
        self.version = version
        self.size = size
        self.url = url
        self.tileMask = tileMask
        self.metainfo = metainfo
        self.sha256 = sha256
        self.tilesHash = tilesHash
        self.attribution = attribution
        self.format = format
        self.dataDate = dataDate
        self.sourceBuild = sourceBuild
        self.asked = asked
        self.encoding = encoding
        self.tileSize = tileSize
        self.tileset = tileset
        self.tiles = tiles
        self.minZoom = minZoom
        self.maxZoom = maxZoom
        self.layers = layers
        self.failedTiles = failedTiles
        self.nodes = nodes
        self.part = part
        self.companion = companion
        self.listedFiles = listedFiles
        self.listedPatches = listedPatches
        self.skippedPatches = skippedPatches
        self.skippedFilePatches = skippedFilePatches
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case version
        case size
        case url
        case tileMask = "tile_mask"
        case metainfo
        case sha256
        case tilesHash = "agg_tiles_hash"
        case attribution
        case format
        case dataDate = "data_date"
        case sourceBuild = "source_build"
        case asked
        case encoding
        case tileSize = "tile_size"
        case tileset
        case tiles
        case minZoom = "min_zoom"
        case maxZoom = "max_zoom"
        case layers
        case failedTiles = "failed_tiles"
        case nodes = "region_nodes"
        case part
        case companion
        case listedFiles = "files"
        case listedPatches = "patches"
        case skippedPatches = "no_patch_from"
        case skippedFilePatches = "no_file_patch_from"
    }

    /// The package in other formats, ascending by format.
    public var files: [File] { listedFiles ?? [] }

    /// Patches from earlier versions to this one, newest first.
    public var patches: [Patch] { listedPatches ?? [] }

    /// The main file and the others.
    public var allFiles: [File] {
        let main = main
        return [File(format: main.format, fileExtension: main.fileExtension, url: url, size: size, sha256: sha256)]
            + files
    }

    /// The format and extension of the main file.
    package var main: (format: String, fileExtension: String) {
        companion.map { (CatalogCompanion.format, $0.fileExtension) } ?? Self.main(format)
    }

    /// Where the main file lies in its edition's folder.
    public var path: String { path(main.fileExtension) }

    /// Where the file with this extension lies in its edition's folder.
    public func path(_ fileExtension: String) -> String {
        Self.path(id, version: version, fileExtension: fileExtension)
    }

    /// Where a patch lies in its edition's folder.
    ///
    /// - Parameter format: That of the files on both sides; `nil` for the main file.
    public func patchPath(from: Int32, format: String? = nil) -> String {
        "patches/\(id)/\(from)-\(version)\(Self.patchExtension(format))"
    }

    /// What the name of a patch ends with: one of the main file is an MBTiles file itself.
    package static func patchExtension(_ format: String?) -> String {
        format.map { $0 == mainFile.format ? mainFile.fileExtension : ".\($0).patch" } ?? mainFile.fileExtension
    }

    package static func path(_ id: String, version: Int32, fileExtension: String) -> String {
        "packages/\(version)/\(id)\(fileExtension)"
    }

    /// Whether a patch from a version is listed or was rejected as too large; `format` as in ``Patch/format``.
    package func isPatchSettled(from version: Int32, format: String? = nil) -> Bool {
        let skipped = format.map { skippedFilePatches?[$0] } ?? skippedPatches
        return patches.contains { $0.from == version && $0.format == format } || (skipped ?? []).contains(version)
    }

    package mutating func skipPatch(from version: Int32, format: String? = nil) {
        guard let format else {
            skippedPatches = ((skippedPatches ?? []) + [version]).sorted(by: >)
            return
        }
        let skipped = (skippedFilePatches?[format] ?? []) + [version]
        skippedFilePatches = (skippedFilePatches ?? [:]).merging([format: skipped.sorted(by: >)]) { $1 }
    }

    package mutating func add(_ patch: Patch) {
        listedPatches = (patches + [patch]).sorted { ($0.from, $1.format ?? "") > ($1.from, $0.format ?? "") }
    }

    /// The same package as another version, for example of another catalog.
    ///
    /// - Parameters:
    ///   - same: The listed entry of this version, whose patches and further formats stay; `nil` for a new version, to
    ///     which no patches lead yet.
    ///   - tileset: The tileset of a package that does not name one.
    ///   - base: What the addresses begin with; ends in a slash.
    package func placed(
        as version: Int32, like same: CatalogEntry?, tileset: String? = nil, base: String
    ) -> CatalogEntry {
        var copy = self
        copy.version = version
        copy.tileset = self.tileset ?? tileset
        copy.listedPatches = same?.listedPatches
        copy.skippedPatches = same?.skippedPatches
        copy.skippedFilePatches = same?.skippedFilePatches
        let more = (same?.files ?? []).filter { old in !files.contains { $0.format == old.format } }
        let all = (files + more).sorted { $0.format < $1.format }
        copy.listedFiles = all.isEmpty ? nil : all
        return copy.rebased(base)
    }

    /// Whether a catalog that lists `other` already has all that this entry of another catalog says.
    ///
    /// Versions, addresses and patches belong to a catalog, and are not compared.
    package func isContained(in other: CatalogEntry) -> Bool {
        let base = "/"
        let mine = placed(as: other.version, like: other, tileset: other.tileset, base: base)
        return sha256 == other.sha256 && mine == other.placed(as: other.version, like: other, base: base)
    }

    /// The same entry with addresses below another base, which ends in a slash.
    package func rebased(_ base: String) -> CatalogEntry {
        var copy = self
        copy.url = base + path
        copy.listedFiles = listedFiles?.map {
            File(
                format: $0.format, fileExtension: $0.fileExtension, url: base + path($0.fileExtension), size: $0.size,
                sha256: $0.sha256)
        }
        copy.listedPatches = listedPatches?.map {
            Patch(
                from: $0.from, format: $0.format, url: base + patchPath(from: $0.from, format: $0.format),
                size: $0.size, sha256: $0.sha256)
        }
        return copy
    }
}

/// The content of `packages.json`.
package struct CatalogList: Codable, Equatable {
    package var packages: [CatalogEntry] = []
    package var schema: String?
    package var metainfo: [String: String]?

    package init(
        packages: [CatalogEntry] = [],
        schema: String? = nil,
        metainfo: [String: String]? = nil
    ) {
        self.packages = packages
        self.schema = schema
        self.metainfo = metainfo
    }

    /// Replaces the entry with the same id, or inserts the entry into the sorted list.
    package mutating func put(_ entry: CatalogEntry) {
        if let place = packages.firstIndex(where: { $0.id == entry.id }) {
            packages[place] = entry
        } else {
            packages.insert(entry, at: packages.lowerBound { $0.id.utf8.lexicographicallyPrecedes(entry.id.utf8) })
        }
    }

    /// Sorts by the bytes of the ids; a sorted list costs one comparison per entry.
    package mutating func sort() {
        let isSorted = zip(packages, packages.dropFirst()).allSatisfy {
            !$1.id.utf8.lexicographicallyPrecedes($0.id.utf8)
        }
        if !isSorted { packages.sort { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) } }
    }
}

extension Array {
    /// The first index whose element is not before the searched position.
    ///
    /// The elements before it must come first.
    package func lowerBound(_ isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
