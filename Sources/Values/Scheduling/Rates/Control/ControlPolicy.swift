/// The constants of ``OriginControl``; times in milliseconds.
struct ControlPolicy: Hashable, Sendable {
    /// A share of refusals that is ignored.
    var noise = 0.015
    /// Number of refusals beyond the noise that are an overload; one more for each hundred requests per second.
    var minEvidence = 6.0
    /// The rate after a reduction, as a share of the accepted rate.
    static let below = 0.95
    /// The rate rises to this multiple of the found limit, to detect a higher limit.
    static let above = 1.05
    /// If that causes no refusal for this long, the rate grows by this share of the limit each second.
    static let patience: Int64 = 4_000
    static let rise = 0.02
    /// Below this share of the found limit the rate grows fast.
    static let near = 0.9
    /// Above this share of refusals the limit found earlier is kept.
    static let collapse = 0.75
    /// How long the rate stays below the limit after a reduction: at first, and when the limit proved to be stable.
    var hold: Int64 = 3_000
    static let longestHold: Int64 = 8_000
    /// Shortest interval between two increases of the rate.
    static let step: Int64 = 500
    /// The shortest interval that is measured.
    static let minSpan: Int64 = 200
    /// During this time answers may belong to requests from before a reduction.
    static let settlingTime: Int64 = 150
    /// Another reduction within this time shows that the last one did not help.
    static let soon: Int64 = 3_000
    /// The growth factors far below the limit, and above it.
    static let recovery = 1.5
    static let growth = 1.2
    /// The share of the rate that must be used before it grows.
    static let demand = 0.7
    /// The factor by which a limit of connections may exceed the accepted rate.
    static let guardFactor = 1.15
    /// Below this rate a window has too few requests to measure demand.
    static let slow = 20.0
    /// The assumed burst of origins, before it is known.
    static let usualBurst = 50.0
    /// The lowest rate.
    static let minRate = 1.0
    /// Whether the rate stays near the found limit.
    ///
    /// Tests use a wrong controller without it.
    var hasMemory = true

    /// The number of refusals beyond the noise that is an overload, at this many requests per second.
    func evidence(_ rate: Double) -> Double { minEvidence > 0 ? minEvidence + rate / 100 : 0 }
}
