/// The formats of packages; the raw value is the word in `--format`, in messages and in the catalog.
///
/// ``mbtiles`` is *the package*: it is always made, merged from shards. Every other form is written from that file by an
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

    /// What a file's name ends with, with its leading dot; no two forms share one.
    public var fileExtension: String {
        switch self {
        case .mbtiles: ".mbtiles"
        case .mbtilesFlat: ".flat.mbtiles"
        case .mbtilesNormalized: ".normalized.mbtiles"
        case .carto: ".carto.mbtiles"
        case .pmtiles: ".pmtiles"
        case .maplibre: ".maplibre.db"
        }
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
