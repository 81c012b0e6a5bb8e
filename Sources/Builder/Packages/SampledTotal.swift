/// The total of something over all tiles of some zooms, estimated from a sample of each.
public struct SampledTotal: Sendable, Hashable {
    /// The estimate.
    public private(set) var value = 0.0
    private var variance = 0.0
    private var isKnown = true

    /// Half the width of the 95 % interval; `nil` if a zoom has too few answers.
    public var margin: Double? { isKnown ? variance.squareRoot() : nil }

    /// The minimum spread that a sample is assumed to have, as a share of its mean.
    ///
    /// A sample without a large tile says little about large tiles, because towns are rare. 0.25 is less than the
    /// spread of sampled zooms of real maps.
    static let minSpread = 0.25

    /// Creates an empty total.
    public init() {}

    /// Adds a zoom of `tiles` tiles, of which some have these values.
    ///
    /// The interval is Student's for each zoom, with the correction for a finite population and a part for skewness; zooms are sampled
    /// independently, so the squares of their margins add. A zoom of which every tile answered is exact.
    public mutating func add(_ values: [Double], of tiles: UInt64) {
        guard tiles > 0 else { return }
        let number = Double(values.count)
        let all = Double(tiles)
        guard !values.isEmpty else {
            isKnown = false
            return
        }
        let mean = values.reduce(0, +) / number
        value += mean * all
        guard number < all else { return }
        guard values.count > 1 else {
            isKnown = false
            return
        }
        let square = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / (number - 1)
        let spread = max(square.squareRoot(), Self.minSpread * abs(mean))
        let cube = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) * ($1 - mean) } / number
        let skewness = square > 0 ? abs(cube) / (square * square.squareRoot()) : 0
        // Student's t for 95 %, within 5 % of the tables from 5 degrees of freedom on; Johnson's correction (1978) for skewed populations
        // moves the interval by skewness / (6 sqrt n) and t^2 / 3 of it, here added on both sides.
        let quantile = 1.96 + 2.6 / (number - 1)
        let factor = quantile + skewness / (6 * number.squareRoot()) * (1 + 2 * quantile * quantile)
        let error = spread / number.squareRoot() * ((all - number) / (all - 1)).squareRoot()
        let margin = factor * error * all
        variance += margin * margin
    }

    /// Adds an exactly known part.
    mutating func add(exactly more: Double) { value += more }

    /// Adds a part of the margin that is independent of the others.
    mutating func widen(by margin: Double) { variance += margin * margin }
}
