import ArgumentParser
import Foundation
import Origins
import Tiles
import Tilesets

/// `packhorse estimate`: what a job would cost, from its mask and a few sampled tiles.
struct EstimateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "estimate",
        abstract: "Tiles per zoom, bytes with a margin, and time; a few tiles are fetched politely, nothing changes.",
        discussion: """
            Examples:
              packhorse estimate EE --tileset tiles.yaml
              packhorse estimate DE --tileset tiles.yaml --zoom 0-12 --samples 0
            """)

    @OptionGroup var area: AreaOptions
    @OptionGroup var tiles: TilesetOptions
    @Option(help: "Tiles fetched per zoom, 0 to 1000; 0 counts tiles only.") var samples: Int = 24
    @Flag(help: "Widen the area to whole tile packs, as 'submit --tile-packs' does.") var tilePacks = false
    @Option(help: "Workers that would run, for the time.") var workers: Int = 1
    @Flag(help: "The result as JSON.") var json = false

    func validate() throws {
        guard (0...1000).contains(samples) else { throw ValidationError("--samples must lie between 0 and 1000.") }
        guard workers > 0 else { throw ValidationError("--workers must be at least 1.") }
    }

    func run() async throws {
        let tileset = try await tiles.read()
        let draft = try JobDraft(
            areas: try area.read(), zooms: try tiles.zooms(of: tileset), tileset: tileset,
            packs: tilePacks ? tileset.packs ?? .mapbox : nil)
        let mask = draft.union
        var estimate = Estimate(zooms: draft.zooms.map { ($0, mask.count(atZoom: $0)) })
        if samples > 0 {
            let sample = try await OriginSampler.sample(
                tileset, mask: mask, zooms: draft.zooms, count: samples,
                environment: ProcessInfo.processInfo.environment)
            estimate.add(sample, workers: workers, limit: tileset.politeness.requestsPerSecond)
        }
        if json {
            Console.result(try JSONText.pretty(estimate))
        } else {
            estimate.lines.forEach(Console.result)
        }
        if let cause = estimate.allFailed {
            throw CLIError(.unavailable, "every sampled tile of tileset '\(tileset.id)' failed: \(cause)")
        }
    }
}
