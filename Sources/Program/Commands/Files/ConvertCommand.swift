import ArgumentParser
internal import CommandSupport
internal import Digests
import Errors
import Foundation
import OfflineDatabase
import PackageFiles
import Packages
import Shards
internal import TextFormats
import TileBodies

/// `packhorse convert`: writes a package in other formats, or a third-party file as a package.
struct ConvertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Write any MBTiles or PMTiles file in other formats; each output is verified.",
        discussion: """
            Formats: \(PackageFormat.allCases.map(\.described).joined(separator: ", ")).

            Examples:
              packhorse convert EE.mbtiles --format pmtiles -o EE.pmtiles
              packhorse convert EE.mbtiles --format pmtiles,carto --format mbtiles-flat -o exports/
              packhorse convert found.pmtiles --format mbtiles -o found.mbtiles
              packhorse convert https://maps.example.com/city.pmtiles -o city.mbtiles
              packhorse convert EE.mbtiles --format maplibre --style-pack style -o EE.maplibre.db
              packhorse convert hills.mbtiles -o hills.gpkg
              packhorse convert EE.mbtiles --format folder -o site/tiles
            """)

    @Argument(
        help:
            "An MBTiles file of any dialect (CARTO's packages too) or a PMTiles file, or the address of one (http, https, s3), which is downloaded completely."
    ) var input: String
    @Option(
        name: .customLong("format"),
        help: "Formats, comma-separated or repeated. Default: from the extension of the output.")
    var formats: [String] = []
    @Option(
        name: [.short, .customLong("output")],
        help:
            "The file to write, or a folder; several formats need a folder. For --format folder alone, the folder of the tiles, or an existing folder to put it into. '-' sends the one file to standard output."
    )
    var output: String
    @Option(help: "Tile format of the input, where its tiles do not say it: \(TileFormat.knownWords).")
    var inputFormat: String?
    @Flag(help: "Refuse a file with tiles that cannot be used, or with repeated ones, instead of leaving them out.")
    var strict = false
    @Flag(help: "Replace existing files.") var force = false
    @Flag(name: .customLong("dry-run"), help: "Show what would be written; write nothing.") var dryRun = false
    @OptionGroup var offline: OfflineArguments
    @OptionGroup var progress: ProgressOptions

    func run() async throws {
        guard output == PipedFile.name, !dryRun else { return try await convert(into: output) }
        try PipedFile.check(json: progress.json)
        let named = formats.isEmpty ? [] : try PackageFormat.list(parsing: formats.joined(separator: ","))
        guard named.count == 1, !named[0].isFolder else {
            throw CLIError(
                .usage, "-o - sends one file, whose format no name tells", hint: "add one format: --format pmtiles")
        }
        try await PipedFile.through { try await convert(into: $0.path + "/") }
    }

    private func convert(into output: String) async throws {
        let source = URL(filePath: input)
        let isRemote = RemoteInput.isMeant(by: input)
        if !isRemote { try FileKind.requireFile(source) }
        let named =
            formats.isEmpty
            ? [try ConvertTargets.format(ofName: output)]
            : try PackageFormat.list(parsing: formats.joined(separator: ","))
        let targets = try ConvertTargets.plan(source, named, output: output, replacing: force)
        if targets.contains(where: { $0.format == .maplibre }) {
            guard try !isRemote && ArchiveKind.of(source) != .pmtiles else {
                throw CLIError(
                    .badData, "'\(input)' is a PMTiles file; format maplibre is written from an MBTiles file",
                    hint: "create one first: packhorse convert '\(input)' --format mbtiles -o FILE.mbtiles")
            }
            _ = try (offline.pack(), offline.options())
        } else if offline.stylePack != nil || offline.dataDate != nil || offline.styleURL != nil {
            throw CLIError(
                .usage, "--style-pack, --style-url and --data-date are only for an offline database",
                hint: "add --format maplibre, or omit them")
        }
        _ = try rule(targets)
        if dryRun { return try printPlan(targets) }
        if let first = targets.first?.file {
            try OutputLocation.makeFolder(first.deletingLastPathComponent())
            try OutputLocation.tryFolder(of: first)
        }
        let command = self
        guard isRemote, let first = targets.first?.file else {
            return try await Interruptible.run { try command.write(targets, from: source) }
        }
        try await Interruptible.run {
            try await RemoteInput.withCopy(of: command.input, nextTo: first, command.progress.style.progress) {
                try command.write(targets, from: $0)
            }
        }
    }

    /// How tiles of another program are taken.
    private func rule(_ targets: [ConvertTargets.Target]) throws -> ImportRule {
        var rule = ImportRule(isStrict: strict)
        if let inputFormat {
            rule.format = TileFormat(word: inputFormat)
            guard rule.format != nil else {
                throw CLIError(
                    .usage, "--input-format '\(inputFormat.prefix(40))' is not known",
                    hint: "use one of \(TileFormat.knownWords)")
            }
        }
        guard rule == ImportRule() || !targets.contains(where: { $0.format == .maplibre }) else {
            throw CLIError(
                .usage, "--input-format and --strict are not for format maplibre",
                hint: "create a package first: packhorse convert '\(input)' --format mbtiles -o FILE.mbtiles")
        }
        return rule
    }

    /// Prints what would be written.
    private func printPlan(_ targets: [ConvertTargets.Target]) throws {
        if progress.json {
            let planned = targets.map { Planned(path: $0.file.path, format: $0.format.rawValue) }
            return Console.result(try JSONText.pretty(planned))
        }
        for target in targets { Console.result("would write \(target.file.path) (\(target.format))") }
    }

    private func write(_ targets: [ConvertTargets.Target], from source: URL) throws {
        var written: [Written] = []
        let rule = try rule(targets)
        let style = try targets.contains { $0.format == .maplibre } ? offline.pack() : nil
        defer { withExtendedLifetime(style) {} }
        for target in targets {
            let meter = ConvertProgress(target.format, progress.style.progress)
            let follow = { (tiles: UInt64) throws in
                if Task.isCancelled { throw CancellationError() }
                meter.show(tiles)
            }
            let receipt =
                if let style, target.format == .maplibre {
                    try OfflineDatabaseExport.write(
                        from: try offline.tiles(source), stylePack: style.folder, to: target.file,
                        options: try offline.options(), replacing: force, progress: follow)
                } else {
                    try PackageExport.write(
                        from: source, format: target.format, to: target.file, replacing: force, rule: rule,
                        progress: follow)
                }
            meter.end()
            if written.isEmpty { warn(receipt) }
            let file = Written(
                path: target.file.path, format: target.format.rawValue, tiles: receipt.tiles, size: receipt.size,
                sha256: receipt.digest.hex, leftOut: receipt.remarks.unusable, repeated: receipt.remarks.repeated,
                otherPictures: receipt.remarks.otherPictures)
            written.append(file)
            let facts =
                "\(file.format), \(Units.count(file.tiles, of: "tile")), \(Units.bytes(file.size)), sha256 \(file.sha256)"
            if output == PipedFile.name {
                Console.note("standard output: \(facts)")
            } else if !progress.json {
                Console.result("wrote \(file.path): \(facts)")
            }
        }
        if progress.json { Console.result(try JSONText.pretty(written)) }
    }

    /// Says what was left out; it is the same for all targets.
    private func warn(_ receipt: ExportReceipt) {
        for line in receipt.remarks.lines { Console.warning("'\(input)': \(line)") }
        for line in EqualCauses.lines(receipt.remarks.examples.map(\.description)) { Console.note("  \(line)") }
        if receipt.tiles == 0 { Console.warning("'\(input)' has no tiles") }
    }

    /// A file of a dry run.
    ///
    /// Its known fields have the same names as in ``Written``.
    private struct Planned: Encodable {
        let path: String
        let format: String
        let dryRun = true
    }

    private struct Written: Encodable {
        let path: String
        let format: String
        let tiles: UInt64
        let size: UInt64
        let sha256: String
        let leftOut: UInt64
        let repeated: UInt64
        let otherPictures: UInt64
    }
}

/// The files of a conversion.
enum ConvertTargets {
    struct Target: Equatable {
        let format: PackageFormat
        let file: URL
    }

    /// The format of a file name.
    ///
    /// - Throws: ``CLIError`` 64 when the name has no known format.
    static func format(ofName name: String) throws -> PackageFormat {
        guard let format = PackageFormat.possible(forName: name).first else {
            throw CLIError(
                .usage, "the format of output '\(name)' is unknown",
                hint: "add --format, or end the name with one of \(PackageFormat.endings())")
        }
        return format
    }

    /// One file for each format.
    ///
    /// None may exist unless it may be replaced.
    ///
    /// - Throws: ``CLIError`` 64 when several formats would go into one file, its name has another format, or the input
    ///   is the output; 73 when a file exists already.
    static func plan(
        _ source: URL, _ formats: [PackageFormat], output: String, replacing: Bool
    ) throws -> [Target] {
        let place = URL(filePath: output)
        // One folder of tiles is the output itself, unless that is a folder with other things.
        let isTree = formats == [.folder] && (!FileKind.isThere(place) || TileFolder.isThere(place))
        let isFolder = !isTree && (output.hasSuffix("/") || FileKind.isFolder(place))
        guard isFolder || formats.count == 1 else {
            if !FileManager.default.fileExists(atPath: place.path), place.pathExtension.isEmpty {
                return try plan(source, formats, output: output + "/", replacing: replacing)
            }
            throw CLIError(
                .usage, "\(formats.count) formats cannot be written to one file '\(output)'",
                hint: "use a folder: -o exports/")
        }
        let possible = PackageFormat.possible(forName: output)
        if !isFolder, let format = formats.first, !possible.isEmpty, !possible.contains(format) {
            throw possible[0].contradicts(format, output: output)
        }
        let targets = formats.map { format in
            Target(
                format: format,
                file: isFolder ? place.appending(path: stem(source) + format.fileExtension) : place)
        }
        for target in targets {
            if target.file.standardizedFileURL == source.standardizedFileURL {
                throw CLIError(
                    .usage, "'\(source.path)' cannot be both input and output", hint: "choose another output")
            }
            try target.format.checkName(target.file, replacing: replacing)
        }
        return targets
    }

    /// The file's name without the extension of its format.
    private static func stem(_ source: URL) -> String {
        let name = source.lastPathComponent
        let endings = PackageFormat.allCases.map(\.fileExtension).sorted { $0.count > $1.count }
        guard let ending = endings.first(where: name.hasSuffix), name.count > ending.count else {
            return source.deletingPathExtension().lastPathComponent
        }
        return String(name.dropLast(ending.count))
    }
}
