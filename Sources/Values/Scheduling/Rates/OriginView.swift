/// An origin as it is shown to people.
public struct OriginView: Hashable, Sendable {
    /// Lower-case `host[:port]`.
    public let name: String
    /// `open`, `slowed`, `blocked`, `broken`, `probing`, `learning`, or `unused`: no job needs it, and an operator has
    /// limited it.
    public let state: String
    /// The strictest limits of its unfinished jobs and of the operator.
    public let limits: OriginLimits
    /// Requests per second that workers hold; `nil` = unlimited.
    public let grantedPerSecond: Double?
    /// Connections that workers hold.
    public let grantedConcurrency: Int
    /// Workers that hold a share.
    public let workers: Int
    /// Milliseconds until requests are allowed again.
    public let blockedFor: Int64
    /// Requests reported since the start.
    public let requests: UInt64
    /// Of these, throttled.
    public let throttled: UInt64
    /// Of these, failed.
    public let failed: UInt64
    /// Requests per second that the origin accepts, as far as known; `nil` = the limits.
    public let foundPerSecond: Double?
    /// Requests in flight that it accepts, as far as known; `nil` = the limits.
    public let foundConcurrency: Int?
    /// The operator's limit; `nil` = no limit by the operator.
    public let operatorLimit: OperatorLimit?
    /// The number of failed requests since the last successful answer.
    public let failedInRow: UInt64
    /// The remaining share of the limits: 0...1.
    public var factor: Double {
        let rate = foundPerSecond.flatMap { found in limits.perSecond.map { found / $0 } } ?? 1
        return min(rate, Double(foundConcurrency ?? limits.concurrency) / Double(limits.concurrency), 1)
    }
}

extension OriginView {
    /// An origin that no job uses.
    init(unused name: String, limit: OperatorLimit) {
        let limits = OriginLimits(perSecond: limit.perSecond, concurrency: limit.concurrency ?? 1_000_000)
        self.init(
            name: name, state: "unused", limits: limits, grantedPerSecond: 0, grantedConcurrency: 0, workers: 0,
            blockedFor: 0, requests: 0, throttled: 0, failed: 0, foundPerSecond: nil, foundConcurrency: nil,
            operatorLimit: limit, failedInRow: 0)
    }
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
                case .closed: (isSlowed ? "slowed" : "open", nil)
                }
            }
        return OriginView(
            name: name, state: state, limits: limits,
            grantedPerSecond: isUnlimited ? nil : held.reduce(0) { $0 + ($1.rate ?? 0) },
            grantedConcurrency: held.reduce(0) { $0 + $1.concurrency }, workers: held.count,
            blockedFor: until.map { max($0 - now, 0) } ?? 0, requests: requests, throttled: throttled, failed: failed,
            foundPerSecond: foundRate, foundConcurrency: connections < limits.concurrency ? connections : nil,
            operatorLimit: operatorLimit, failedInRow: health.streak)
    }
}

extension OriginView {
    /// Fewer consecutive failures than this are not shown.
    private static let noteworthy = 5

    /// Why the origin blocks a job that needs it; empty = it does not.
    var hindrance: String {
        let seconds = (blockedFor + 999) / 1_000
        return switch state {
        case "learning": "shares of \(name) granted before the restart expire in \(seconds) s"
        case "blocked": "\(name) asked clients to wait: \(seconds) s left"
        case "broken": "\(name) does not answer: next attempt in \(seconds) s"
        case "probing": "\(name) did not answer: one request tests whether it is back"
        case _ where failedInRow >= Self.noteworthy: "the last \(failedInRow) requests to \(name) failed"
        default: ""
        }
    }
}
