import ArgumentParser
internal import CommandSupport
import Errors
import Foundation
import OfflineDatabase
import PackageFiles
import Tiles

/// The inputs of a MapLibre offline database in addition to the package.
struct OfflineArguments: ParsableArguments {
    @Option(help: "maplibre: a style pack, its folder or its ZIP archive (packhorse style-pack).") var stylePack:
        String?
    @Option(
        name: .customLong("style-url"), help: "maplibre: the style's address in apps; default: that of the style pack."
    )
    var styleURL: String?
    @Option(help: "maplibre: the environment variable with the key in the apps' addresses.") var keyEnv: String?
    @Option(help: "maplibre: the style's source for the tiles; default: the only suitable one.")
    var source: String?
    @Option(help: "maplibre: SOURCE=FILE, tiles of another source of the style; may be repeated.") var also: [String] =
        []
    @Option(help: "maplibre: a source to remove from the style, with its layers; may be repeated.")
    var without: [String] = []
    @Option(
        help: "maplibre: the package's tile mask; missing tiles of the mask count as empty, not as failed.")
    var emptyMask: String?
    @Option(help: "maplibre: the date of the data, 2026-11-01 or 2026-11-01T12:00:00Z; apps replace older rows only.")
    var dataDate: String?
    @Option(help: "maplibre: seconds after that date at which rows expire; default: never, and apps do not revalidate.")
    var expires: Int64?
    @Option(help: "maplibre: the region's metadata for apps; default: its name as JSON.") var metadata: String?

    /// The options of the exporter.
    func options() throws -> OfflineOptions {
        var options = OfflineOptions()
        options.styleURL = styleURL
        options.key = try keyEnv.map { name in
            guard let value = Variable.value(name) else {
                throw CLIError(
                    .configuration, "the environment variable \(name) is not set or empty", hint: "set it to the key")
            }
            return value
        }
        options.without = Set(without)
        options.emptyTiles = try emptyMask.map { try TileMask(cartoText: $0) }
        options.expiresAfter = expires
        options.description = metadata.map { Array($0.utf8) }
        if let dataDate { options.modified = try Self.seconds(dataDate) }
        return options
    }

    /// The package, and the files of `--also`.
    func tiles(_ package: URL) throws -> [OfflineTiles] {
        var tiles = [OfflineTiles(package, source: source)]
        for pair in also {
            let sides = pair.split(separator: "=", maxSplits: 1).map(String.init)
            guard sides.count == 2 else {
                throw CLIError(
                    .usage, "--also '\(pair)' is not SOURCE=FILE", hint: "for example --also terrain=EE-terrain.mbtiles"
                )
            }
            let file = URL(filePath: sides[1])
            try FileKind.requireFile(file)
            tiles.append(OfflineTiles(file, source: sides[0]))
        }
        return tiles
    }

    /// The style pack, unpacked if it is an archive.
    ///
    /// The folder exists as long as the value.
    func pack() throws -> StylePackLocation {
        guard let stylePack else {
            throw CLIError(
                .usage, "a MapLibre offline database needs a style pack",
                hint: "create one with packhorse style-pack URL -o style, and pass --style-pack style")
        }
        return try StylePackLocation(URL(filePath: stylePack))
    }

    /// A day or an instant in its original form, after a check.
    ///
    /// - Throws: ``CLIError`` 64.
    static func checkedDate(_ text: String) throws -> String {
        _ = try seconds(text)
        return text
    }

    /// Unix seconds of a day or an instant, UTC.
    static func seconds(_ text: String) throws -> Int64 {
        guard let seconds = DataDate.seconds(text) else {
            throw CLIError(
                .usage, "--data-date '\(text)' is not a date", hint: "write 2026-11-01 or 2026-11-01T12:00:00Z")
        }
        return seconds
    }
}
