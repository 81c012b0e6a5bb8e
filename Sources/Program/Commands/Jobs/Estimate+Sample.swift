internal import ClusterClient
internal import CommandSupport
import Errors
import Gateway
import Packages

extension Estimate {
    /// The same estimate for the page of the gateway, with one worker.
    static let sample: MapSample.Source = { question in
        guard let area = Area.tiles(question.mask, id: "map", label: "map") else {
            throw CLIError(.badData, "the area has no tile")
        }
        let draft = try JobDraft(areas: [area], zooms: question.zooms, tileset: question.tileset)
        let found = try await sampled(draft, samples: question.count, workers: 1, formats: question.formats)
        return MapSample(
            sampled: found.sampled, bytes: found.bytes ?? 0, margin: found.margin,
            files: found.files.map { MapSample.File(format: $0.format, bytes: $0.bytes, margin: $0.margin) },
            seconds: found.seconds)
    }
}
