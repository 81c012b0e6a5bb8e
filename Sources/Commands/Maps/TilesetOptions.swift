import ArgumentParser
import Foundation
import Origins
import Tiles
import Tilesets
import Wire

/// Which tiles to build from, and how deep.
struct TilesetOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Tileset: a YAML or JSON file ('packhorse help tileset' has its keys), a tile or TileJSON URL, the URL of a PMTiles archive, or mbtiles:FILE, pmtiles:FILE. Default: $PACKHORSE_TILESET. Public servers want to know who asks: set $PACKHORSE_CONTACT, or politeness.contact in the file."
        ))
    var tileset: String?

    @Option(help: "Zoom range, for example 0-14 or 8. Default: the tileset's own, at most 14.")
    var zoom: String?

    @Option(
        help: ArgumentHelp(
            "Language code put in place of {language}; packages go to the catalog's edition of that language. 'submit' takes several: en,de,fr.",
            valueName: "code"))
    var language: String?

    /// Reads the description and whatever it points to (TileJSON, file metadata).
    func read() async throws -> Tileset {
        let languages = try languages()
        guard languages.count <= 1 else {
            throw CLIError(.usage, "--language names \(languages.count) languages; one is needed here")
        }
        return try await TilesetReader.read(named(), language: languages.first)
    }

    /// The languages of `--language`, in its order.
    ///
    /// - Throws: ``CLIError`` 64 for one that is empty or named twice.
    func languages() throws -> [String] {
        let codes = language?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
        for code in codes {
            if let problem = PBEdition(group: "", language: code).problem { throw CLIError(.usage, problem) }
            guard !code.isEmpty, codes.count(where: { $0 == code }) == 1 else {
                throw CLIError(.usage, "--language '\(language ?? "")' names a language twice or not at all")
            }
        }
        return codes
    }

    /// What `--tileset` says, or the environment.
    func named() throws -> String {
        guard let named = tileset ?? Variable.value("PACKHORSE_TILESET") else {
            throw CLIError(
                .usage, "no tileset is named",
                hint: "pass --tileset FILE.yaml (packhorse help tileset shows one), or set PACKHORSE_TILESET")
        }
        return named
    }

    /// The zooms asked for, which must lie within the tileset's.
    func zooms(of tileset: Tileset) throws -> ZoomRange {
        guard let zoom else {
            let most = min(tileset.zooms.max, 14)
            guard let range = ZoomRange(min: min(tileset.zooms.min, most), max: most) else { return tileset.zooms }
            return tileset.zooms.min > 14 ? tileset.zooms : range
        }
        let asked = try ZoomRange(parsing: zoom)
        guard asked.min >= tileset.zooms.min, asked.max <= tileset.zooms.max else {
            throw CLIError(
                .usage, "zoom \(asked) lies outside tileset '\(tileset.id)', which has \(tileset.zooms)",
                hint: "pass --zoom within \(tileset.zooms)")
        }
        return asked
    }
}
