/// A node's own monotonic clock: it starts anywhere, drifts, and jumps ahead when its machine was asleep.
///
/// Wall clocks are not modelled: no rule reads one.
struct SimClock {
    private var base: Int64
    private var since: Int64
    private let drift: Int64

    /// A clock that shows `base` at the true time `since` and gains `drift` per mille.
    init(base: Int64, since: Int64, drift: Int64) {
        self.base = base
        self.since = since
        self.drift = drift
    }

    func local(_ now: Int64) -> Int64 { base + (now - since) + (now - since) * drift / 1_000 }

    /// The first true time at which the clock shows `local` or more.
    func time(of local: Int64) -> Int64 {
        guard local > base else { return since }
        let guess = since + (local - base) * 1_000 / (1_000 + drift)
        return (guess - 2...guess + 2).first { self.local($0) >= local } ?? guess + 3
    }

    mutating func jump(_ span: Int64, at now: Int64) {
        base = local(now) + span
        since = now
    }
}
