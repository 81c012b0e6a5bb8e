import ArgumentParser
internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation
import Packages
import Tiles
import Tilesets
import Wire

/// The common options of `submit` and `schedule add`.
struct SubmitOptions: ParsableArguments {
    @OptionGroup var area: AreaOptions
    @OptionGroup var tiles: TilesetOptions

    @OptionGroup var output: OutputOptions

    @Option(help: "Allow a box of up to this many tiles (the coordinator's own limit is 5,000 unless set otherwise).")
    var tileLimit: UInt64 = 0

    @Option(parsing: .unconditional, help: "Jobs of higher priority run first; below 0 is paused.")
    var priority: Int32 = 0

    @Option(help: "Relative share of the cluster among jobs of the same priority.")
    var weight: UInt32 = 1

    @Option(
        help: ArgumentHelp(
            "Share of tiles, 0 to 1, that may be missing in a package; above it the job fails. Broken tiles of an archive are left out and do not count, unless it is 0. Default: \(SubmitPolicy.usualMissing).",
            valueName: "allowed-missing"))
    var allowedMissing: Double?

    @Flag(help: "Fail if any tile is missing, also a broken one of an archive: the same as --allowed-missing 0.")
    var strict = false

    @Flag(
        help:
            "Cut the packages into tile packs that regions share, and widen each area to whole packs; the bands are those of the tileset (tile_packs), else \(PackScheme.standard)."
    )
    var tilePacks = false

    func validate() throws {
        guard (0...1).contains(allowedMissing ?? 0) else {
            throw ValidationError("--allowed-missing must be between 0 and 1.")
        }
        guard !strict || (allowedMissing ?? 0) == 0 else {
            throw ValidationError("--strict allows no tile to be missing; omit it or --allowed-missing.")
        }
        guard !tilePacks || output.size.maxFile == nil else {
            throw ValidationError(
                "--tile-packs and --max-file exclude each other: tile packs are small files already. Omit one of them.")
        }
        guard weight > 0 else { throw ValidationError("--weight must be at least 1.") }
    }

    /// Reads tileset and areas, and makes the masks: one job per language, or one job without languages.
    ///
    /// - Parameter measuresDepth: Whether tiles of a source that goes beyond the usual depth are fetched, to say its size.
    /// - Throws: ``CLIError`` and the readers' own errors, naming the wrong option or file.
    func drafts(measuresDepth: Bool = true) async throws -> [JobDraft] {
        let file = try TilesetReader.file(tiles.named(), format: tiles.inputFormat)
        let languages = try tiles.languages()
        try Self.check(languages, file)
        let group = output.group ?? file.group ?? ""
        if let problem = PBEdition(group: group, language: "").problem { throw CLIError(.usage, problem) }
        let areas = try area.read()
        var drafts: [JobDraft] = []
        for language in languages.isEmpty ? [""] : languages {
            let spoken = language.isEmpty ? file : file.inLanguage(language)
            let (tileset, version) = try await TilesetReader.pinned(spoken)
            let zooms = try tiles.zooms(of: tileset)
            let packs = tilePacks ? tileset.packs ?? .standard : nil
            var draft: JobDraft
            if let first = drafts.first, first.zooms == zooms, first.packs == packs {
                draft = first
                try draft.use(tileset)
            } else {
                draft = try JobDraft(
                    areas: areas, zooms: zooms, tileset: tileset, label: area.label(areas),
                    packs: packs)
            }
            draft.sourceVersion = version
            draft.following = spoken.following
            draft.remarks = []
            if measuresDepth, saysDepth { draft.remarks += await DeepZooms.remarks(draft) }
            try output.fill(&draft, edition: PBEdition(group: group, language: language))
            drafts.append(draft)
        }
        return drafts
    }

    /// The files that the coordinator reads again for a schedule, by the language of its edition.
    ///
    /// - Throws: ``CLIError`` 64 when no file is named.
    func followedFiles() throws -> (String) -> PBFollowedFiles {
        let named = try tiles.named()
        let tileset = SourceScheme.isAddress(named) ? "" : URL(filePath: named).standardizedFileURL.path
        let packages = area.packages.map { URL(filePath: $0).standardizedFileURL.path } ?? ""
        guard !tileset.isEmpty || !packages.isEmpty else {
            throw CLIError(
                .usage, "--follow-files: there is no file to read again",
                hint: "name a list of packages (--packages FILE) or a tileset file (--tileset FILE)")
        }
        guard area.regions.regionsFolder == nil else {
            throw CLIError(
                .usage,
                "--follow-files: the coordinator reads the list with its own regions, not with --regions-folder",
                hint: "import the regions where the coordinator runs, and omit --regions-folder")
        }
        return { language in
            .make {
                $0.packages = packages
                $0.tileset = tileset
                $0.language = language
                $0.fixesZooms = tiles.zoom != nil
            }
        }
    }

    /// Whether it is said that a source goes beyond the usual depth: where no zooms are asked for.
    var saysDepth: Bool { tiles.zoom == nil }

    /// Several languages mean several tilesets, so the file must not set the language.
    private static func check(_ languages: [String], _ file: TilesetFile) throws {
        guard languages.count > 1 else { return }
        if let named = file.language {
            throw CLIError(
                .usage, "the tileset file names the language '\(named)', and --language names \(languages.count)",
                hint: "remove 'language' from the file")
        }
        guard file.hasLanguages else {
            throw CLIError(
                .usage, "the tileset's url has no {language}: its tiles are the same in \(languages.count) languages",
                hint: "put {language} into the url, or give one language")
        }
    }

    /// The coordinator options of these options.
    ///
    /// The caller adds the rest.
    func policy(
        requestID: String = "", dryRun: Bool = false, after: [UInt64] = [], labels: [String] = []
    ) -> SubmitPolicy {
        SubmitPolicy(
            requestID: requestID, tileLimit: tileLimit, priority: priority,
            allowedMissing: strict ? 0 : allowedMissing ?? SubmitPolicy.usualMissing,
            dryRun: dryRun, weight: weight, after: after, labels: labels)
    }
}
