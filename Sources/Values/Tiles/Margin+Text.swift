internal import Errors
internal import TextFormats

extension Margin {
    /// Parses `5km`, or with shorter distances from some zooms on: `5km,14:500m`.
    ///
    /// - Throws: ``TilesError`` `.badMargin`.
    package init(parsing text: String) throws(TilesError) {
        var steps: [Step] = []
        for (index, part) in text.split(separator: ",", omittingEmptySubsequences: false).enumerated() {
            let parts = part.split(separator: ":", maxSplits: 1).map(String.init)
            guard index == 0 ? parts.count == 1 : parts.count == 2,
                let zoom = index == 0 ? 0 : Int(parts[0].filter { $0 != " " }), let distance = parts.last
            else {
                // In "1,5km" the second part has no zoom.
                let isDecimal = index == 1 && !text.contains(":")
                throw TilesError(
                    .badMargin,
                    isDecimal
                        ? "margin '\(text)' has a comma; write decimals with a point: 1.5km"
                        : "margin '\(text)' cannot be read; expected for example 5km or 5km,14:500m")
            }
            do throws(Units.DistanceProblem) {
                let meters = try Units.distance(distance, as: "margin", limit: Margin.limit, takesZero: true)
                steps.append(Step(zoom: zoom, meters: meters))
            } catch {
                throw TilesError(.badMargin, error.message)
            }
        }
        try self.init(steps)
    }
}
