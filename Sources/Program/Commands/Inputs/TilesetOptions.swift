import ArgumentParser
internal import CommandSupport
import Errors
import Foundation
import Origins
import TileBodies
import Tiles
import Tilesets
import Wire

/// The tileset and the zooms of a job.
struct TilesetOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Tileset: a YAML or JSON file ('packhorse help tileset' lists its keys), \(SourceScheme.words). Default: $PACKHORSE_TILESET. Public servers ask for contact details: set $PACKHORSE_CONTACT, or politeness.contact in the file."
        ))
    var tileset: String?

    @Option(
        help:
            "Tile format of a source that --tileset names directly, where it does not say it: \(TileFormat.knownWords)."
    )
    var inputFormat: String?

    @Option(
        help:
            "Zoom range, for example 0-14 or 8. Default: the tileset's own; at most 14 when the tileset does not say its zooms."
    )
    var zoom: String?

    @Option(
        help: ArgumentHelp(
            "Language code that replaces {language}; it also selects the edition of the packages. 'submit' accepts several: en,de,fr.",
            valueName: "code"))
    var language: String?

    /// Reads the tileset and the documents that it refers to (TileJSON, file metadata).
    func read() async throws -> Tileset { try await pinned().tileset }

    /// The same with the version of the archive that was read; `nil` for tile servers.
    func pinned() async throws -> (tileset: Tileset, version: String?) {
        let languages = try languages()
        guard languages.count <= 1 else {
            throw CLIError(.usage, "--language names \(languages.count) languages; this command needs one")
        }
        let file = try TilesetReader.file(named(), format: inputFormat)
        return try await TilesetReader.pinned(languages.first.map(file.inLanguage) ?? file)
    }

    /// The languages of `--language`, in the given order.
    ///
    /// - Throws: ``CLIError`` 64 for an empty or duplicate one.
    func languages() throws -> [String] {
        let codes = language?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
        for code in codes {
            if let problem = PBEdition(group: "", language: code).problem { throw CLIError(.usage, problem) }
            guard !code.isEmpty, codes.count(where: { $0 == code }) == 1 else {
                throw CLIError(.usage, "--language '\(language ?? "")' contains a duplicate or an empty language")
            }
        }
        return codes
    }

    /// The value of `--tileset`, or of the environment.
    func named() throws -> String {
        guard let named = tileset ?? Variable.value("PACKHORSE_TILESET") else {
            throw CLIError(
                .usage, "no tileset is given",
                hint: "pass --tileset FILE.yaml (packhorse help tileset shows an example), or set PACKHORSE_TILESET")
        }
        return named
    }

    /// The deepest zoom of a tileset that does not say its zooms, and the usual one of vector maps.
    static let usualDepth = 14

    /// The requested zooms, which must be within the tileset's zooms.
    func zooms(of tileset: Tileset) throws -> ZoomRange {
        guard let zoom else {
            guard !tileset.saysZooms else { return tileset.zooms }
            return ZoomRange(min: min(tileset.zooms.min, Self.usualDepth), max: Self.usualDepth) ?? tileset.zooms
        }
        let asked = try ZoomRange(parsing: zoom)
        guard asked.min >= tileset.zooms.min, asked.max <= tileset.zooms.max else {
            throw CLIError(
                .usage, "zoom \(asked) is outside of tileset '\(tileset.id)', which has \(tileset.zooms)",
                hint: "pass --zoom within \(tileset.zooms)")
        }
        return asked
    }
}
