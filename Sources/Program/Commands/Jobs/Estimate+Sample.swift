internal import ClusterClient
internal import CommandSupport
import Errors
import Gateway
import Packages
import Tiles
import Tilesets

extension Estimate {
    /// The same estimate for the page of the gateway, with one worker.
    static let sample: MapSample.Source = { question in
        guard let area = Area.tiles(question.mask, id: "map", label: "map") else {
            throw CLIError(.badData, "the area has no tile")
        }
        guard try mayHaveTiles(question) else { return none(of: 0, question.formats) }
        let draft = try JobDraft(areas: [area], zooms: question.zooms, tileset: question.tileset)
        let found = try await sampled(
            draft, samples: question.count, workers: 1, formats: question.formats, mayBeEmpty: true)
        guard found.zooms.contains(where: { $0.stored ?? 0 > 0 }) else {
            return none(of: found.sampled, question.formats)
        }
        return MapSample(
            sampled: found.sampled, bytes: found.bytes ?? 0, margin: found.margin,
            files: found.files.map { MapSample.File(format: $0.format, bytes: $0.bytes, margin: $0.margin) },
            seconds: found.seconds)
    }

    /// Whether one of the archives of a tileset may have tiles of a map; other sources always may.
    ///
    /// A job of which none has a tile is refused (`Tileset.narrowed(to:zooms:)`).
    private static func mayHaveTiles(_ question: MapSample.Question) throws -> Bool {
        let archives = try question.tileset.archives()
        return archives.isEmpty
            || archives.contains { archive in
                guard let zooms = archive.zooms.intersection(question.zooms) else { return false }
                guard case .cell(let cell) = archive.extent else { return true }
                return question.mask.restricted(to: cell).count(in: zooms) > 0
            }
    }

    /// The sample of a map without a tile, which is no file: the forecast would be the frame of one.
    private static func none(of sampled: Int, _ formats: [PackageFormat]) -> MapSample {
        MapSample(
            sampled: sampled, bytes: 0, margin: 0,
            files: formats.map { MapSample.File(format: $0.rawValue, bytes: 0, margin: 0) }, seconds: 0)
    }
}
