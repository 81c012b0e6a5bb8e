/// An origin as shown to people.
public struct OriginView: Hashable, Sendable {
    /// Lower-case `host[:port]`.
    public let name: String
    /// `open`, `slowed`, `blocked`, `broken`, `probing` or `learning`.
    public let state: String
    /// The strictest limits of its living jobs.
    public let limits: OriginLimits
    /// Requests per second that workers hold; `nil` = unlimited.
    public let grantedPerSecond: Double?
    /// Connections that workers hold.
    public let grantedConcurrency: Int
    /// Workers that hold a share.
    public let workers: Int
    /// Milliseconds until it may be asked again.
    public let blockedFor: Int64
    /// Requests reported since the start.
    public let requests: UInt64
    /// Of these, throttled.
    public let throttled: UInt64
    /// Of these, failed.
    public let failed: UInt64
    /// What throttling leaves of the limits.
    public let factor: Double
    /// How many requests failed since the last one that was answered.
    public let failedInRow: UInt64
}

extension OriginBook {
    func view(now: Tick, learningUntil: Tick?) -> OriginView {
        let held = shares.keys.sorted().compactMap { shares[$0]?.amount }.filter { !$0.isNothing }
        let isUnlimited = held.contains { $0.rate == nil }
        let (state, until): (String, Tick?) =
            if let learningUntil, held.isEmpty {
                ("learning", learningUntil)
            } else if let end = health.blockedUntil, end > now {
                ("blocked", end)
            } else {
                switch health.breaker {
                case .open(let until): ("broken", until)
                case .probing: ("probing", nil)
                case .closed: (health.factor < 1 ? "slowed" : "open", nil)
                }
            }
        return OriginView(
            name: name, state: state, limits: limits,
            grantedPerSecond: isUnlimited ? nil : held.reduce(0) { $0 + ($1.rate ?? 0) },
            grantedConcurrency: held.reduce(0) { $0 + $1.concurrency }, workers: held.count,
            blockedFor: until.map { max($0 - now, 0) } ?? 0, requests: requests, throttled: throttled, failed: failed,
            factor: health.factor, failedInRow: health.streak)
    }
}

extension OriginView {
    /// Fewer failures than this in a row are not worth a word.
    private static let noteworthy = 5

    /// Why a job that needs the origin does not move; empty = it may.
    var hindrance: String {
        let seconds = (blockedFor + 999) / 1_000
        return switch state {
        case "learning": "shares of \(name) granted before the restart run out in \(seconds) s"
        case "blocked": "\(name) asked to wait: \(seconds) s left"
        case "broken": "\(name) does not answer: next try in \(seconds) s"
        case "probing": "\(name) did not answer: one request tries whether it is back"
        case _ where failedInRow >= Self.noteworthy: "the last \(failedInRow) requests to \(name) failed"
        default: ""
        }
    }
}
