import Errors
import Tiles

/// Reads a table of points.
enum TableReader {
    /// The largest table: 128 MiB.
    private static let limit = 128 << 20

    static func read(_ input: AreaInput, _ sink: inout AreaSink) throws(AreaFileError) {
        try input.beginText()
        let bytes = try input.rest(limit: limit)
        let features: [AreaFeature]
        do throws(TilesError) { features = try AreaFeature.features(table: bytes) } catch {
            throw AreaFileError(.badArea, error.message, hint: error.hint)
        }
        for feature in features { try sink.add(feature, at: "the table") }
    }
}
