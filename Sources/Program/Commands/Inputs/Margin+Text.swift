internal import CommandSupport
import Errors
internal import TextFormats
import Tiles

extension Margin {
    /// Parses `5km`, or with shorter distances from some zooms on: `5km,14:500m`.
    ///
    /// - Throws: ``CLIError`` 64, `TilesError` `bad-margin`.
    init(parsing text: String) throws {
        var steps: [Step] = []
        for (index, part) in text.split(separator: ",", omittingEmptySubsequences: false).enumerated() {
            let parts = part.split(separator: ":", maxSplits: 1).map(String.init)
            guard index == 0 ? parts.count == 1 : parts.count == 2,
                let zoom = index == 0 ? 0 : Int(parts[0].filter { $0 != " " }), let distance = parts.last
            else {
                throw CLIError(.usage, "margin '\(text)' cannot be read; expected for example 5km or 5km,14:500m")
            }
            steps.append(
                Step(
                    zoom: zoom,
                    meters: try Units.meters(distance, as: "margin", limit: Margin.limit, takesZero: true)))
        }
        try self.init(steps)
    }
}
