import ArgumentParser
import Catalog
import CatalogFormat
internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation
import PackageFiles
import Packages
internal import TextFormats
import Tilesets
import Wire

/// The formats of a submission's packages, and their edition of the catalog.
struct OutputOptions: ParsableArguments {
    @Option(
        name: .customLong("format"),
        help: OutputOptions.formatHelp)
    var formats: [String] = []

    @Option(
        help: ArgumentHelp(
            "The style for --format maplibre: an address that every worker can reach, with {key} and {language} as in the tileset, or ?key=${NAME} with an environment variable of the workers. The database contains the key, because apps look resources up by their complete addresses.",
            valueName: "url"))
    var style: String?

    @Option(
        help: ArgumentHelp(
            "The data group of the packages, such as terrain, which selects the edition of the catalog. Default: that of the tileset file.",
            valueName: "group"))
    var group: String?

    @OptionGroup var size: FileSizeOption

    @Option(help: ArgumentHelp("The date of the data for the catalog: 2026-10-01.", valueName: "date"))
    var dataDate: String?

    @Flag(help: "Allow packages to replace packages of another tileset.")
    var replaceTileset = false

    @Flag(
        help:
            "Allow packages to replace packages of another area or of more zooms, and to be smaller. Without it a package that covers less than half of the catalog's area is refused."
    )
    var replaceArea = false

    @Flag(
        help:
            "Publish packages that have less than half of the tiles or bytes of the catalog's versions, or lack their attribution or vector layers."
    )
    var allowShrink = false

    @Flag(
        help:
            "Publish all packages in one change of the catalog, when each of them is ready. If one fails, none is published (retry --apart gives this up)."
    )
    var together = false

    @Option(
        help: ArgumentHelp(
            "The name of the coordinator's catalog that gets the packages (coordinator --also-catalog). Default: main.",
            valueName: "name"))
    var into: String?

    @Option(help: OutputOptions.thenHelp)
    var then: [String] = []

    private static var thenHelp: ArgumentHelp {
        let kinds = CatalogStep.kinds.map { "\($0.form) \($0.meaning)" }.joined(separator: "; ")
        return ArgumentHelp(
            "What follows when the job is done, in this order: \(kinds). The coordinator runs it, repeats what fails, and continues after a restart. Comma-separated or repeated.",
            valueName: "steps")
    }

    private static var formatHelp: ArgumentHelp {
        let files = PackageFormat.allCases.filter { $0 != .mbtiles && !$0.isFolder }
        let words = files.map { $0.isOfPictures ? "\($0) (pictures only)" : $0.rawValue }.joined(separator: ", ")
        let folders = PackageFormat.words(PackageFormat.allCases.filter(\.isFolder))
        return ArgumentHelp(
            "The formats: mbtiles, \(words); for build also \(folders). build makes those that are named, by default MBTiles. submit and schedules make PMTiles alone for pmtiles, and add MBTiles to all others. Comma-separated or repeated.",
            valueName: "formats")
    }

    /// The steps, with absolute paths: those of the coordinator's machine.
    private func steps() throws -> [String] {
        let texts = then.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        guard texts.count <= CatalogStep.most else {
            throw CLIError(.usage, "--then names \(texts.count) steps; a job can have \(CatalogStep.most)")
        }
        return try texts.map { text -> String in
            do throws(CatalogError) {
                let step = try CatalogStep(parsing: text)
                guard case .push(let place) = step, !place.contains("://") else { return text }
                let folder = URL(filePath: place, directoryHint: .isDirectory).standardizedFileURL
                return CatalogStep.push(folder.path).description
            } catch {
                throw CLIError(.usage, "--then: \(Sentence.inner(error.message))", hint: error.hint)
            }
        }
    }

    /// Completes a draft.
    ///
    /// - Throws: ``CLIError`` 64 for formats and styles that contradict each other; `PackagesError` `unknown-format`.
    func fill(_ draft: inout JobDraft, edition: PBEdition) throws {
        if !edition.isRoot { draft.publish.edition = edition }
        if !formats.isEmpty { draft.formats = try PackageFormat.list(parsing: formats.joined(separator: ",")) }
        for format in draft.allFormats {
            guard let refusal = format.refusal(of: draft.tileset.format) else { continue }
            throw CLIError(.badData, "tileset '\(draft.tileset.id)': \(Sentence.inner(refusal))")
        }
        draft.style = style ?? ""
        draft.publish.catalog = into ?? ""
        draft.publish.maxFile = size.bytes
        let limited = zip(draft.packages, draft.fileLimits).filter { $1 > 0 }.map(\.0)
        if limited.contains(where: { ($0.area.formats ?? draft.formats).contains(where: \.isFolder) }) {
            throw CLIError(
                .usage, "--max-file and max_file limit files, and a folder has a file for each tile",
                hint: "remove \(PackageFormat.folder) from --format, or omit the limit")
        }
        draft.publish.dataDate = try dataDate.map(OfflineArguments.checkedDate) ?? ""
        draft.publish.replacesTileset = replaceTileset
        draft.publish.replacesArea = replaceArea
        draft.publish.allowsShrink = allowShrink
        draft.publish.together = together
        draft.publish.then = try steps()
        let wantsStyle = draft.allFormats.contains(.maplibre)
        guard wantsStyle || draft.style.isEmpty else {
            throw CLIError(.usage, "--style is only for a format that contains a style", hint: "add --format maplibre")
        }
        guard !wantsStyle || draft.style.hasPrefix("http://") || draft.style.hasPrefix("https://") else {
            throw CLIError(
                .usage, "format maplibre needs a style with an address that every worker can reach",
                hint: "pass --style https://HOST/style.json")
        }
        let address = try SecretAddress(draft.style)
        guard address.variable != nil || !address.url.contains("{key}") || draft.tileset.keyEnvironment != nil else {
            throw CLIError(
                .usage, "the style's address has {key}, and tileset '\(draft.tileset.id)' has no key",
                hint:
                    "use an environment variable of the workers in the address, '…?key=${NAME}', or write key: ${NAME} into the tileset file"
            )
        }
    }
}
