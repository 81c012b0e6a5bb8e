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

    /// The members, shared by all copies of an entry: a copy of the members themselves would count a reference for each of them.
    private final class Held: Sendable {
        let members: Members
        init(_ members: Members) { self.members = members }
    }
    private var held: Held

    /// The package's id, unique in the list.
    public var id: String { held.members.id }
    /// Counts from 1; different bytes have a different version.
    public var version: Int32 { held.members.version }
    /// Exact bytes of the file.
    public var size: Int64 { held.members.size }
    /// Absolute address of the file.
    public var url: String { held.members.url }
    /// The package's tiles: CARTO's text, a colon, the deepest zoom.
    public var tileMask: String { held.members.tileMask }
    /// Name paths by language: `name_en` is "Europe/Northern Europe/Estonia".
    public var metainfo: [String: String] { held.members.metainfo }
    /// SHA-256 of the file, 64 lower-case hexadecimal digits.
    public var sha256: String { held.members.sha256 }
    /// The file's `agg_tiles_hash`: equal for equal tiles.
    public var tilesHash: String { held.members.tilesHash }
    /// The attribution of the data; `nil` if unknown.
    public var attribution: String? { held.members.attribution }
    /// The format of the main file; `nil` for MBTiles.
    public var format: String? { held.members.format }
    /// How old the data is, as its source says; `nil` if unknown.
    public var dataDate: String? { held.members.dataDate }
    /// The build of its source, for sources whose address changes with each build; `nil` for others.
    public var sourceBuild: String? { held.members.sourceBuild }
    /// `changed` when its build asked the tile server only for a list of changed tiles and took the rest from an earlier build; else `nil`.
    public var asked: String? { held.members.asked }
    /// How renderers read the tiles: `encoding` of their source; `nil` for the usual ways.
    public var encoding: String? { held.members.encoding }
    /// Width and height at which pictures are shown, in pixels; `nil` if not said.
    public var tileSize: Int? { held.members.tileSize }
    /// Id of the tileset it was built from; `nil` if unknown.
    public var tileset: String? { held.members.tileset }
    /// Tiles in the main file; `nil` if unknown.
    public var tiles: Int64? { held.members.tiles }
    /// The shallowest zoom of its tiles; `nil` if unknown.
    public var minZoom: Int? { held.members.minZoom }
    /// The deepest zoom of its tiles; `nil` if unknown.
    public var maxZoom: Int? { held.members.maxZoom }
    /// Names of the vector layers that its metadata lists, ascending; `nil` if unknown, and for pictures.
    public var layers: [String]? { held.members.layers }
    /// Upper limit of the tiles of its mask that are missing because they failed; `nil` if unknown.
    ///
    /// With 0, every tile that is in the mask and not in the file is empty.
    public var failedTiles: UInt64? { held.members.failedTiles }
    /// Its region and those above it, where the embedded tree does not have them; `nil` for others.
    public var nodes: [CatalogIndex.Node]? { held.members.nodes }
    /// Which part of a package it is; `nil` for a whole one.
    public var part: CatalogPart? { held.members.part }
    /// What its file is; `nil` for a map.
    public var companion: CatalogCompanion? { held.members.companion }
    private var listedFiles: [File]? { held.members.listedFiles }
    package var listedPatches: [Patch]? { held.members.listedPatches }
    package var skippedPatches: [Int32]? { held.members.skippedPatches }
    /// The same for patches of other formats than the main one, by format.
    package var skippedFilePatches: [String: [Int32]]? { held.members.skippedFilePatches }

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
        held = Held(
            Members(
                id: id,
                version: version,
                size: size,
                url: url,
                tileMask: tileMask,
                metainfo: metainfo,
                sha256: sha256,
                tilesHash: tilesHash,
                attribution: attribution,
                format: format,
                dataDate: dataDate,
                sourceBuild: sourceBuild,
                asked: asked,
                encoding: encoding,
                tileSize: tileSize,
                tileset: tileset,
                tiles: tiles,
                minZoom: minZoom,
                maxZoom: maxZoom,
                layers: layers,
                failedTiles: failedTiles,
                nodes: nodes,
                part: part,
                companion: companion,
                listedFiles: listedFiles,
                listedPatches: listedPatches,
                skippedPatches: skippedPatches,
                skippedFilePatches: skippedFilePatches))
    }

    /// Reads the members by their names in `packages.json`.
    public init(from decoder: any Decoder) throws { held = Held(try Members(from: decoder)) }

    /// Writes the members by their names in `packages.json`.
    public func encode(to encoder: any Encoder) throws { try held.members.encode(to: encoder) }

    /// Copies of one entry are equal without a comparison of their members.
    public static func == (one: CatalogEntry, other: CatalogEntry) -> Bool {
        one.held === other.held || one.held.members == other.held.members
    }

    /// Combines all members.
    public func hash(into hasher: inout Hasher) { hasher.combine(held.members) }

    private mutating func change(_ edit: (inout Members) -> Void) {
        var changed = held.members
        edit(&changed)
        held = Held(changed)
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
            return change { $0.skippedPatches = (($0.skippedPatches ?? []) + [version]).sorted(by: >) }
        }
        let skipped = ((skippedFilePatches?[format] ?? []) + [version]).sorted(by: >)
        change { $0.skippedFilePatches = ($0.skippedFilePatches ?? [:]).merging([format: skipped]) { $1 } }
    }

    package mutating func add(_ patch: Patch) {
        let all = (patches + [patch]).sorted { ($0.from, $1.format ?? "") > ($1.from, $0.format ?? "") }
        change { $0.listedPatches = all }
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
        let more = (same?.files ?? []).filter { old in !files.contains { $0.format == old.format } }
        let all = (files + more).sorted { $0.format < $1.format }
        var copy = self
        copy.change {
            $0.version = version
            $0.tileset = $0.tileset ?? tileset
            $0.listedPatches = same?.listedPatches
            $0.skippedPatches = same?.skippedPatches
            $0.skippedFilePatches = same?.skippedFilePatches
            $0.listedFiles = all.isEmpty ? nil : all
        }
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
        copy.change {
            $0.url = base + path
            $0.listedFiles = $0.listedFiles?.map {
                File(
                    format: $0.format, fileExtension: $0.fileExtension, url: base + path($0.fileExtension),
                    size: $0.size, sha256: $0.sha256)
            }
            $0.listedPatches = $0.listedPatches?.map {
                Patch(
                    from: $0.from, format: $0.format, url: base + patchPath(from: $0.from, format: $0.format),
                    size: $0.size, sha256: $0.sha256)
            }
        }
        return copy
    }
}
