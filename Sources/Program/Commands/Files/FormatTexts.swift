internal import CommandSupport
import Errors
import Packages
internal import TextFormats
import TileBodies

/// What help texts, hints and errors say of formats: a new format is in all of them with its case and row.
extension PackageFormat {
    /// `mbtiles-flat, carto, gpkg`.
    static func words(_ formats: [PackageFormat]) -> String { formats.map(\.rawValue).joined(separator: ", ") }

    /// The word, with what it does not say by itself: `zip (files z/x/y with tiles.json)`.
    var described: String { note.map { "\(rawValue) (\($0))" } ?? rawValue }

    /// Endings of names: `.mbtiles, .pmtiles`; `.carto.mbtiles` is one of `.mbtiles`.
    static func endings(of formats: [PackageFormat] = allCases) -> String {
        var found: [String] = []
        for format in formats {
            let ending = format.fileExtension.split(separator: ".").last.map { ".\($0)" } ?? ""
            if !found.contains(ending) { found.append(ending) }
        }
        return found.joined(separator: ", ")
    }

    /// Whether it holds pictures alone.
    var isOfPictures: Bool { refusal(of: .mvt) != nil }

    /// Whether the size of a file with tiles of a format can be estimated from a few of them.
    func hasEstimate(of tiles: TileFormat) -> Bool { isEstimated(of: tiles) && refusal(of: tiles) == nil }

    /// The error for an output whose name is that of a file of this format, and `--format` says another one.
    func contradicts(_ named: PackageFormat, output: String) -> CLIError {
        CLIError(
            .usage,
            "-o '\(output)' is the name of \(Sentence.article(rawValue)) \(rawValue) file, and --format says \(named)",
            hint: "end the name with \(named.fileExtension), or omit --format")
    }
}
