internal import Digests
internal import Foundation
public import PackageFiles
public import TileBodies

/// The formats of packages; the raw value is the word in `--format`, in messages and in the catalog.
///
/// ``mbtiles`` and ``pmtiles`` are merged from shards (``main(of:)``). Every other form is written from an MBTiles file by an
/// exporter, so all of them hold the same tiles.
public enum PackageFormat: String, CaseIterable, Sendable, Hashable, Codable {
    /// MBTiles 1.3 with each body stored once (`tiles_shallow` + `tiles_data`, `tiles` a view).
    case mbtiles
    /// MBTiles with one table `tiles`, for readers that cannot use a view.
    case mbtilesFlat = "mbtiles-flat"
    /// MBTiles with `map` and `images`, bodies named by their MD5.
    case mbtilesNormalized = "mbtiles-normalized"
    /// MBTiles in the form that CARTO's (Nutiteq's) mobile SDK needs.
    case carto
    /// PMTiles version 3, for ranged reading over HTTP.
    case pmtiles
    /// MapLibre Native's offline database, schema version 6; needs a style pack.
    case maplibre
    /// A GeoPackage with one pyramid of pictures in Web Mercator, for GDAL and QGIS.
    case gpkg
    /// A ZIP archive with tiles as files, and `tiles.json`.
    case zip
    /// A folder with tiles as files, and `tiles.json`.
    case folder

    /// All that this build knows of a format: a new one is a case with its row, and the file that writes it; a new
    /// container needs its reader too.
    struct Traits: Sendable {
        /// What a file's name ends with, with its leading dot.
        let fileExtension: String
        /// What help texts say beside the word; `nil` if the word says it all.
        var note: String?
        /// What its tiles and fixed parts take, for estimates; `nil` if that depends on more than tiles.
        let layout: PackageLayout?
        /// The formats of tiles that it holds; `nil` for all.
        var tiles: Set<TileFormat>?
        /// Whether it is many files in a folder, which no blob store and no catalog has.
        var isFolder = false
        /// Writes the tiles into a new file, seals it, flushes it and reads it back; `nil` for one that needs more than tiles.
        ///
        /// Returns the number of tiles, and the SHA-256 of the file.
        let write: (@Sendable (TileFeed, URL, (UInt64) throws -> Void) throws -> (tiles: UInt64, digest: Digest))?
    }

    /// The row of a format.
    var traits: Traits {
        switch self {
        case .mbtiles:
            Traits(fileExtension: ".mbtiles", note: "bodies stored once", layout: .deduplicated) {
                try SQLiteExport.package($0, to: $1, progress: $2)
            }
        case .mbtilesFlat:
            Traits(fileExtension: ".flat.mbtiles", layout: .flat) {
                try SQLiteExport.write($0, $0.rows, into: FlatTable.init, to: $1, progress: $2)
            }
        case .mbtilesNormalized:
            Traits(fileExtension: ".normalized.mbtiles", layout: .normalized) {
                try SQLiteExport.write($0, $0.rows, into: NormalizedTable.init, to: $1, progress: $2)
            }
        case .carto:
            Traits(fileExtension: ".carto.mbtiles", layout: .flat, tiles: CartoMetadata.formats) {
                try SQLiteExport.write($0, CartoMetadata.rows($0.rows), into: FlatTable.init, to: $1, progress: $2)
            }
        case .pmtiles:
            Traits(fileExtension: ".pmtiles", layout: .pmtiles) { try PMTilesExport.write($0, to: $1, progress: $2) }
        case .maplibre:
            Traits(
                fileExtension: ".maplibre.db",
                note: "an offline database for MapLibre Native, from an MBTiles file and a style pack", layout: nil,
                write: nil)
        case .gpkg:
            Traits(
                fileExtension: ".gpkg", note: "a GeoPackage of pictures for GDAL and QGIS", layout: .geoPackage,
                tiles: GeoPackageGrid.formats
            ) {
                try GeoPackageExport.write($0, to: $1, progress: $2)
            }
        case .zip:
            Traits(fileExtension: ".zip", note: "files z/x/y with tiles.json", layout: .zip) {
                try TreeExport.write($0, to: $1, into: ZipWriter.init, progress: $2)
            }
        case .folder:
            Traits(
                fileExtension: ".tiles", note: "the same files, for any web server", layout: .folder, isFolder: true
            ) {
                try TreeExport.write($0, to: $1, into: FolderWriter.init, progress: $2)
            }
        }
    }

    /// What a file's name ends with, with its leading dot; no two forms share one.
    public var fileExtension: String { traits.fileExtension }

    /// What help texts say beside the word; `nil` if the word says it all.
    public var note: String? { traits.note }

    /// Whether it is a folder of many files; `submit` refuses it, and every other command writes it from the package.
    public var isFolder: Bool { traits.isFolder }

    /// Why tiles of a format cannot be written in this one, with the remedy; `nil` when they can.
    public func refusal(of tiles: TileFormat) -> String? {
        guard let held = traits.tiles, !held.contains(tiles) else { return nil }
        let names = TileFormat.allCases.filter(held.contains).map(\.traits.name).joined(separator: ", ")
        let what = held.contains(where: \.traits.isVector) ? names : "pictures (\(names))"
        return
            "Format \(self) holds \(what), and these tiles are of the format \(tiles.rawValue); choose another format, such as mbtiles or pmtiles."
    }

    /// Whether the size of a file can be estimated from the sizes of its tiles; a style, and unpacking, change them.
    public func isEstimated(of tiles: TileFormat) -> Bool {
        traits.layout.map { !$0.isUnpacked || tiles.traits.coding == .identity } ?? false
    }

    /// The format of a package's main file: PMTiles where nothing else is wanted, so that no MBTiles file is made; else MBTiles, because the
    /// other formats are written from it.
    ///
    /// - Parameter wanted: The words of all formats of the package; none stands for MBTiles.
    public static func main(of wanted: [String]) -> PackageFormat {
        Set(wanted) == [pmtiles.rawValue] ? .pmtiles : .mbtiles
    }

    /// Reads one word, as it is written in ``rawValue``.
    ///
    /// - Throws: `PackagesError` `unknown-format` that lists the known formats.
    public init(parsing text: String) throws(PackagesError) {
        guard let format = PackageFormat(rawValue: text) else {
            throw PackagesError(
                .unknownFormat,
                "There is no package format '\(text.prefix(40))'; the formats are "
                    + Self.allCases.map(\.rawValue).joined(separator: ", ") + ".")
        }
        self = format
    }

    /// Reads words separated by commas.
    ///
    /// - Returns: Each format once, in the order of `allCases`, so that lists that mean the same are equal.
    /// - Throws: As ``init(parsing:)``, also for an empty list or word.
    public static func list(parsing text: String) throws(PackagesError) -> [PackageFormat] {
        var named: Set<PackageFormat> = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            named.insert(try PackageFormat(parsing: String(word)))
        }
        return allCases.filter(named.contains)
    }
}

extension PackageFormat: CustomStringConvertible {
    /// The same as ``rawValue``.
    public var description: String { rawValue }
}
