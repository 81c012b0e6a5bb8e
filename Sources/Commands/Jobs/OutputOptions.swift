import ArgumentParser
import Packages
import Tilesets
import Wire

/// What comes out of a submission, and where it goes.
struct OutputOptions: ParsableArguments {
    @Option(
        name: .customLong("format"),
        help: ArgumentHelp(
            "Other formats than MBTiles, which is always made: mbtiles-flat, mbtiles-normalized, carto, pmtiles, maplibre. Several with commas, or given again.",
            valueName: "formats"))
    var formats: [String] = []

    @Option(
        help: ArgumentHelp(
            "The style for --format maplibre: an address that every worker reaches; {key} and {language} as in the tileset, or ?key=${NAME} with a variable of the workers' environment. The key goes into the database: apps look things up by whole addresses.",
            valueName: "url"))
    var style: String?

    @Option(
        help: ArgumentHelp(
            "The data group of the packages, such as terrain: they go to that edition of the catalog. Default: the tileset file's.",
            valueName: "group"))
    var group: String?

    @Option(help: ArgumentHelp("How old the data is, as the catalog is to tell it: 2026-10-01.", valueName: "date"))
    var dataDate: String?

    @Flag(help: "Let packages take the place of those that were made of another tileset.")
    var replaceTileset = false

    @Flag(
        help:
            "Let packages take the place of those of another area or of more zooms, and be smaller; without it a package that holds less than half of the area in the catalog is refused."
    )
    var replaceArea = false

    @Flag(
        help: "Publish packages that have less than half of the tiles or bytes of the versions in the catalog.")
    var allowShrink = false

    /// Completes a draft.
    ///
    /// - Throws: ``CLIError`` 64 for formats and styles that do not go together; `PackagesError` `unknown-format`.
    func fill(_ draft: inout JobDraft, edition: PBEdition) throws {
        draft.edition = edition
        if !formats.isEmpty { draft.formats = try PackageFormat.list(parsing: formats.joined(separator: ",")) }
        draft.style = style ?? ""
        draft.dataDate = try dataDate.map(OfflineArguments.checkedDate) ?? ""
        draft.replacesTileset = replaceTileset
        draft.replacesArea = replaceArea
        draft.allowsShrink = allowShrink
        let wantsStyle = draft.allFormats.contains(.maplibre)
        guard wantsStyle || draft.style.isEmpty else {
            throw CLIError(.usage, "--style belongs to a format that holds one", hint: "add --format maplibre")
        }
        guard !wantsStyle || draft.style.hasPrefix("http://") || draft.style.hasPrefix("https://") else {
            throw CLIError(
                .usage, "format maplibre needs a style with an address that every worker reaches",
                hint: "pass --style https://HOST/style.json")
        }
        let address = try SecretAddress(draft.style)
        guard address.variable != nil || !address.url.contains("{key}") || draft.tileset.keyEnvironment != nil else {
            throw CLIError(
                .usage, "the style's address has {key}, and tileset '\(draft.tileset.id)' names no key",
                hint:
                    "name a variable of the workers' environment in the address, '…?key=${NAME}', or write key: ${NAME} into the tileset file"
            )
        }
    }
}
