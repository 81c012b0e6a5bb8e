/// The numbers of ``OriginControl``; times in milliseconds.
struct ControlPolicy: Hashable, Sendable {
    /// A share of refusals that says nothing.
    var noise = 0.015
    /// So many refusals beyond the noise are an overload, and one more for each hundred requests per second.
    var leastEvidence = 6.0
    /// The rate after a cut, as a share of what was accepted.
    var below = 0.95
    /// The rate goes so far above the limit found, to see whether it moved.
    var above = 1.05
    /// When that has brought no refusal for so long, it goes up by this share of the limit each second.
    var patience: Int64 = 4_000
    var rise = 0.02
    /// Below this share of the limit found the rate grows fast.
    var near = 0.9
    /// A share of refusals above which the limit found earlier is not given up.
    var collapse = 0.75
    /// How long the rate stays below the limit after a cut, at first and where the limit proved to be stable.
    var hold: Int64 = 3_000
    var longestHold: Int64 = 8_000
    /// How often the rate grows at most.
    var step: Int64 = 500
    /// The least span that is measured.
    var leastSpan: Int64 = 200
    /// Until then answers may be to requests from before a cut.
    var settle: Int64 = 150
    /// A cut this long after the last one shows that the last one was no help.
    var soon: Int64 = 3_000
    /// The factors of growth far below the limit, and beyond it.
    var recovery = 1.5
    var growth = 1.2
    /// The share of the rate that must be asked for before it grows.
    var demand = 0.7
    /// What a limit of connections leaves above the accepted rate.
    var guardFactor = 1.15
    /// Below this rate a window has too few requests to show how much is asked for.
    var slow = 20.0
    /// What origins accept at once beyond their rate, before it is known.
    var usualBurst = 50.0
    /// The least rate.
    var leastRate = 1.0
    /// Whether the rate stays near the limit found; tests have a wrong controller without.
    var hasMemory = true

    /// Refusals beyond the noise that are an overload, at this many requests per second.
    func evidence(_ rate: Double) -> Double { leastEvidence > 0 ? leastEvidence + rate / 100 : 0 }
}
