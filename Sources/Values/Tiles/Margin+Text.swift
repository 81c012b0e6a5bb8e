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
                throw TilesError(
                    .badMargin, "margin '\(text)' cannot be read; expected for example 5km or 5km,14:500m")
            }
            guard let meters = Units.distance(distance, limit: Margin.limit, takesZero: true) else {
                throw TilesError(
                    .badMargin,
                    "margin '\(distance)' is not a distance; expected for example 2km, 500m or 1.5mi, at most 10,000 km"
                )
            }
            steps.append(Step(zoom: zoom, meters: meters))
        }
        try self.init(steps)
    }
}
