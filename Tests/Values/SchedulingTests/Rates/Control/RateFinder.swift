@testable import Scheduling

/// What finds the limits of an origin: the real one, or a wrong one.
protocol RateFinder {
    mutating func addSample(
        _ sample: OriginControl.Sample, from session: SessionID, of workers: Int, now: Tick)
    var rate: Double? { get }
    var connections: Int? { get }
}

extension OriginControl: RateFinder {}

/// The rule of earlier builds: halve at each refusal, at most every 3 s, and add 5 % of a ceiling taken at the first one every 2 s.
struct HalvingRule: RateFinder {
    var ceiling: Double?
    var factor = 1.0
    var halved: Tick?
    var raised = Tick(milliseconds: 0)
    var speed = 0.0
    var counting: (n: Double, since: Tick)?
    var rate: Double? { ceiling.map { $0 * factor } }
    var connections: Int? { nil }
    mutating func addSample(_ sample: OriginControl.Sample, from session: SessionID, of workers: Int, now: Tick) {
        if let (n, since) = counting, now - since >= 1_000 {
            speed = (n + sample.answered + sample.refused) * 1_000 / Double(now - since)
            counting = (0, now)
        } else {
            counting = ((counting?.n ?? 0) + sample.answered + sample.refused, counting?.since ?? now)
        }
        if sample.refused > 0 {
            raised = now
            if let halved, now - halved < 3_000 { return }
            halved = now
            if ceiling == nil { ceiling = max(speed, counting?.n ?? 0, 1) }
            factor = max(factor / 2, 1 / 32)
        } else if factor < 1, now - raised >= 2_000 {
            factor = min(1, factor + 0.05 * Double((now - raised) / 2_000))
            raised = now
            if factor == 1 { ceiling = nil }
        }
    }
}
