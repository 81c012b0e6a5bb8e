internal import HTTPTypes
internal import MetricsFormat
internal import Synchronization
internal import WebServer

/// What a gateway has counted since it started.
///
/// No label holds a job, package, token, tile or client; so the number of series is bounded.
final class GatewayMetrics: Sendable {
    /// Why a request was refused.
    enum Refusal: String, Sendable, CaseIterable {
        case rate, quota, token, role, size
    }

    /// How a request for ranges was answered.
    enum RangeKind: String, Sendable, CaseIterable {
        case one, several, unsatisfiable, stale
    }

    /// What was found for a tile.
    enum TileResult: String, Sendable, CaseIterable {
        case found, empty, outside, damaged
    }

    /// How an extract ended.
    enum ExtractResult: String, Sendable, CaseIterable {
        case served, built, joined
        case tooBig = "too-big"
        case failed
        case gaveUp = "gave-up"
    }

    fileprivate struct RequestKey: Hashable {
        let route: String
        let method: String
        let code: Int
    }

    fileprivate struct GroupCounts {
        var duration = Histogram()
        var firstByte = Histogram()
        var bytes: UInt64 = 0
        var notModified: UInt64 = 0
        var inFlight = 0

        mutating func answered(isModified: Bool, bytes: UInt64, seconds: Double) {
            firstByte.add(seconds)
            duration.add(seconds)
            self.bytes &+= bytes
            if !isModified { notModified += 1 }
        }
    }

    fileprivate struct State {
        var requests: [RequestKey: UInt64] = [:]
        var groups: [Route.Group: GroupCounts] = [:]
        var cuts: [ConnectionClock.Cut: UInt64] = [:]
        var refusals: [Refusal: UInt64] = [:]
        var ranges: [RangeKind: UInt64] = [:]
        var tiles: [TileResult: UInt64] = [:]
        var extracts: [ExtractResult: UInt64] = [:]
        var extractSeconds = Histogram()
        var questions: [String: UInt64] = [:]
        var answerSeconds = Histogram()
    }

    private let state = Mutex(State())

    /// A request whose answer must be waited for begins.
    func begin(_ group: Route.Group) { state.withLock { $0.groups[group, default: GroupCounts()].inFlight += 1 } }

    /// It is waited for no more.
    func end(_ group: Route.Group) { state.withLock { $0.groups[group, default: GroupCounts()].inFlight -= 1 } }

    /// An answer is ready to be sent, after so many seconds.
    ///
    /// - Parameters:
    ///   - route: `nil` for a path that no route has.
    ///   - bytes: Of its body.
    func answered(_ route: Route?, method: String, code: Int, bytes: UInt64, seconds: Double) {
        let method = Self.methods.contains(method) ? method : "other"
        state.withLock { state in
            state.requests[RequestKey(route: route?.name ?? "other", method: method, code: code), default: 0] += 1
            state.groups[route?.group ?? .page, default: GroupCounts()].answered(
                isModified: code != 304, bytes: bytes, seconds: seconds)
        }
    }

    private static let methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]

    func cut(_ reason: ConnectionClock.Cut) { state.withLock { $0.cuts[reason, default: 0] += 1 } }
    func refused(_ reason: Refusal) { state.withLock { $0.refusals[reason, default: 0] += 1 } }
    func range(_ kind: RangeKind) { state.withLock { $0.ranges[kind, default: 0] += 1 } }
    func tile(_ result: TileResult) { state.withLock { $0.tiles[result, default: 0] += 1 } }

    /// An extract ended; a time belongs to those that were built.
    func extract(_ result: ExtractResult, seconds: Double?) {
        state.withLock { state in
            state.extracts[result, default: 0] += 1
            if let seconds { state.extractSeconds.add(seconds) }
        }
    }

    /// A question to the coordinator ended: `answered`, `problem` or `silent`.
    func question(_ result: String, seconds: Double) {
        state.withLock { state in
            state.questions[result, default: 0] += 1
            state.answerSeconds.add(seconds)
        }
    }

    /// Writes the families that this object counts.
    func write(to text: inout MetricsText) {
        let state = state.withLock { $0 }
        text.family(GatewayMetric.requests)
        let requests = state.requests.map { key, count in
            (route: key.route, method: key.method, code: key.code, count: count)
        }.sorted { ($0.route, $0.method, $0.code) < ($1.route, $1.method, $1.code) }
        for row in requests {
            text.sample(GatewayMetric.requests, row.route, row.method, "\(row.code)", value: Double(row.count))
        }
        state.writeGroups(to: &text)
        text.each(GatewayMetric.cuts, Self.numbers(state.cuts))
        text.each(GatewayMetric.refused, Self.numbers(state.refusals))
        text.each(GatewayMetric.ranges, Self.numbers(state.ranges))
        text.each(GatewayMetric.tiles, Self.numbers(state.tiles))
        text.each(GatewayMetric.extracts, Self.numbers(state.extracts))
        text.family(GatewayMetric.extractSeconds)
        text.histogram(GatewayMetric.extractSeconds, histogram: state.extractSeconds)
        text.each(GatewayMetric.questions, state.questions.mapValues(Double.init))
        text.family(GatewayMetric.answerSeconds)
        text.histogram(GatewayMetric.answerSeconds, histogram: state.answerSeconds)
    }

    private static func numbers(_ counts: [some RawRepresentable<String> & Hashable: UInt64]) -> [String: Double] {
        counts.reduce(into: [:]) { $0[$1.key.rawValue] = Double($1.value) }
    }
}

extension GatewayMetrics.State {
    /// Writes the families that have one row for each group of routes.
    fileprivate func writeGroups(to text: inout MetricsText) {
        func each(_ metric: GatewayMetric, _ number: (GatewayMetrics.GroupCounts) -> Double) {
            text.each(metric, groups.reduce(into: [:]) { $0[$1.key.rawValue] = number($1.value) })
        }
        func histograms(_ metric: GatewayMetric, _ histogram: (GatewayMetrics.GroupCounts) -> Histogram) {
            text.family(metric)
            for group in Route.Group.allCases {
                text.histogram(metric, group.rawValue, histogram: histogram(groups[group] ?? .init()))
            }
        }
        histograms(.duration, \.duration)
        histograms(.firstByte, \.firstByte)
        each(.bytes) { Double($0.bytes) }
        each(.notModified) { Double($0.notModified) }
        each(.inFlight) { Double($0.inFlight) }
    }
}
