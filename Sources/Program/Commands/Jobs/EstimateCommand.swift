import ArgumentParser
internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation
import Origins
import Packages
import TileBodies
import Tiles
import Tilesets
import Wire

/// `packhorse estimate`: the cost of a job, from its mask and a few sampled tiles.
struct EstimateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "estimate",
        abstract:
            "Estimate tiles per zoom, bytes to fetch, file sizes with margins, and time; fetches a few tiles, changes nothing.",
        discussion: """
            'fetch' is the number of received bytes: tile bodies as the server sends them, without HTTP headers. 'size' is the size of the files of
            all packages in the requested formats. Each margin is half the width of the 95 % confidence interval.
            The same command samples the same tiles.

            Examples:
              packhorse estimate EE --tileset tiles.yaml
              packhorse estimate DE --tileset tiles.yaml --zoom 0-12 --samples 0
              packhorse estimate EE LV --tileset tiles.yaml --format pmtiles,carto
              packhorse estimate CA --tileset tiles.yaml --max-file 4GB
              packhorse estimate DE --tileset tiles.yaml --disk ./data/catalog
            """)

    @OptionGroup var area: AreaOptions
    @OptionGroup var tiles: TilesetOptions
    @Option(
        help:
            "Tiles fetched per zoom on average, 0 to 1000; deep zooms use samples that others do not need. 0 only counts tiles."
    )
    var samples: Int = 24
    @Option(
        name: .customLong("format"),
        help: EstimateCommand.formatHelp)
    var formats: [String] = []
    @OptionGroup var size: FileSizeOption
    @Flag(help: "Widen the area to whole tile packs, as 'submit --tile-packs' does.") var tilePacks = false
    @Option(help: "Number of workers, for the estimated time.") var workers: Int = 1
    @Option(
        help: ArgumentHelp(
            "The folder to which the files are to go, such as that of a catalog: shows its free space, and warns when the files may not fit.",
            valueName: "folder"))
    var disk: String?
    @Flag(help: "Print the result as JSON.") var json = false

    func validate() throws {
        guard (0...1000).contains(samples) else { throw ValidationError("--samples must be between 0 and 1000.") }
        guard workers > 0 else { throw ValidationError("--workers must be at least 1.") }
    }

    func run() async throws {
        let formats = try wantedFormats()
        let (tileset, version) = try await tiles.pinned()
        var draft = try JobDraft(
            areas: try area.read(), zooms: try tiles.zooms(of: tileset), tileset: tileset,
            packs: tilePacks ? tileset.packs ?? .standard : nil)
        draft.publish.maxFile = size.bytes
        var estimate = try await Estimate.sampled(
            draft, samples: samples, workers: workers, formats: formats)
        estimate.disk = try disk.map(DiskSpace.init)
        estimate.source = tileset.build.map { PinnedBuild($0, version: version) }
        if json {
            Console.result(try JSONText.pretty(estimate))
        } else {
            estimate.lines.forEach(Console.result)
        }
        let deep = tiles.zoom == nil ? DeepZooms.remark(draft, estimate) : nil
        let shortage = estimate.disk?.shortage(of: estimate.files)
        for warning in draft.warnings + [deep, estimate.failureText, shortage].compactMap(\.self) {
            Console.warning(warning)
        }
        for format in formats where samples > 0 && !format.hasEstimate(of: tileset.format) {
            let why = format.refusal(of: tileset.format) ?? "Format \(format) stores vector tiles unpacked."
            Console.note("the size as \(format) is not estimated: \(why)")
        }
    }

    private static var formatHelp: ArgumentHelp {
        let added = PackageForecast.formats.filter { $0 != .mbtiles }
        let ofAll = PackageFormat.words(added.filter { $0.hasEstimate(of: .mvt) })
        let ofPictures = PackageFormat.words(added.filter { !$0.hasEstimate(of: .mvt) })
        return ArgumentHelp(
            "Formats whose file sizes are estimated: mbtiles, \(ofAll), and of pictures \(ofPictures); comma-separated. With other formats than pmtiles alone, MBTiles is made too, and counted.",
            valueName: "formats")
    }

    /// The formats of `--format`, and MBTiles where it is made too.
    ///
    /// - Throws: ``CLIError`` 64 for a format whose size is not estimated.
    private func wantedFormats() throws -> [PackageFormat] {
        guard !formats.isEmpty else { return [.mbtiles] }
        let named = try PackageFormat.list(parsing: formats.joined(separator: ","))
        if let other = named.first(where: { !PackageForecast.formats.contains($0) }) {
            throw CLIError(
                .usage,
                "the size of a file of format \(other) is not estimated, because it depends on the style in the file",
                hint: "remove \(other) from --format")
        }
        let main = tilePacks ? .mbtiles : PackageFormat.main(of: named.map(\.rawValue))
        return PackageForecast.formats.filter { $0 == main || named.contains($0) }
    }
}

extension Estimate {
    /// The estimated cost of a job: the number of tiles, and sizes from a few tiles that are fetched within the
    /// tileset's limits.
    ///
    /// - Parameters:
    ///   - samples: Tiles fetched per zoom; 0 only counts.
    ///   - workers: Number of workers, for the time.
    ///   - formats: The formats whose file sizes are estimated.
    ///   - mayBeEmpty: Whether a sample in which no tile exists has 0 bytes; else it is an error.
    /// - Throws: ``CLIError`` when no sampled tile could be fetched, with the cause.
    static func sampled(
        _ draft: JobDraft, samples: Int, workers: Int, formats: [PackageFormat], mayBeEmpty: Bool = false
    ) async throws -> Estimate {
        let (mask, tileset) = (draft.union, draft.tileset)
        var estimate = Estimate(zooms: draft.zooms.map { ($0, mask.count(atZoom: $0)) })
        guard samples > 0 else { return estimate }
        try await HostCheck.require(tileset, orSilent: true)
        let sample = try await OriginSampler.sample(
            tileset, mask: mask, zooms: draft.zooms, count: samples,
            environment: ProcessInfo.processInfo.environment)
        if let refusal = Estimate.refusal(sample, of: tileset, mayBeEmpty: mayBeEmpty) { throw refusal }
        let texts = [tileset.vectorLayers, tileset.attribution, tileset.description].compactMap { $0?.utf8.count }
        estimate.add(
            sample, packages: draft.packages.map(\.mask),
            formats: formats.filter { $0.hasEstimate(of: tileset.format) }, metadata: 500 + texts.reduce(0, +),
            workers: workers, limit: tileset.politeness.requestsPerSecond, fileLimits: draft.fileLimits)
        return estimate
    }
}
