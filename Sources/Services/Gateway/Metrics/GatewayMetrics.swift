internal import Synchronization

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

    private struct RequestKey: Hashable {
        let endpoint: Endpoint?
        let method: String
        let code: Int
    }

    private struct GroupCounts {
        var duration = Histogram()
        var firstByte = Histogram()
        var bytes: UInt64 = 0
        var notModified: UInt64 = 0
        var inFlight = 0
    }

    private struct State {
        var requests: [RequestKey: UInt64] = [:]
        var groups: [Endpoint.Group: GroupCounts] = [:]
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

    /// A request begins.
    func begin(_ group: Endpoint.Group) { state.withLock { $0.groups[group, default: GroupCounts()].inFlight += 1 } }

    /// The head of an answer is known.
    ///
    /// - Parameter endpoint: `nil` for a path that no route has.
    func answered(_ endpoint: Endpoint?, method: String, code: Int, seconds: Double) {
        let method = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"].contains(method) ? method : "other"
        state.withLock { state in
            state.requests[RequestKey(endpoint: endpoint, method: method, code: code), default: 0] += 1
            let group = endpoint?.group ?? .page
            state.groups[group, default: GroupCounts()].firstByte.add(seconds)
            if code == 304 { state.groups[group, default: GroupCounts()].notModified += 1 }
        }
    }

    /// An answer has ended.
    func end(_ group: Endpoint.Group, bytes: UInt64, seconds: Double) {
        state.withLock { state in
            state.groups[group, default: GroupCounts()].inFlight -= 1
            state.groups[group, default: GroupCounts()].bytes &+= bytes
            state.groups[group, default: GroupCounts()].duration.add(seconds)
        }
    }

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
        text.family("gateway_http_requests_total", .counter, "Answered requests")
        let requests = state.requests.sorted {
            ($0.key.endpoint?.rawValue ?? "other", $0.key.method, $0.key.code)
                < ($1.key.endpoint?.rawValue ?? "other", $1.key.method, $1.key.code)
        }
        for (key, count) in requests {
            text.sample(
                "gateway_http_requests_total",
                [("route", key.endpoint?.rawValue ?? "other"), ("method", key.method), ("code", "\(key.code)")],
                Double(count))
        }
        writeGroups(state, to: &text)
        func counter<Key: Hashable & RawRepresentable<String> & CaseIterable>(
            _ name: String, _ help: String, _ label: String, _ counts: [Key: UInt64]
        ) {
            text.family(name, .counter, help)
            for key in Key.allCases { text.sample(name, [(label, key.rawValue)], Double(counts[key, default: 0])) }
        }
        counter("gateway_connections_cut_total", "Connections that were cut", "reason", state.cuts)
        counter("gateway_refused_total", "Requests that were refused", "reason", state.refusals)
        counter("gateway_ranges_total", "Requests with ranges", "kind", state.ranges)
        counter("gateway_tiles_total", "Requests for tiles", "result", state.tiles)
        counter("gateway_extracts_total", "Requests for extracts", "result", state.extracts)
        text.family("gateway_extract_seconds", .histogram, "Time to build an extract")
        text.histogram("gateway_extract_seconds", [], state.extractSeconds)
        text.family("gateway_coordinator_questions_total", .counter, "Questions to the coordinator")
        for result in ["answered", "problem", "silent"] {
            text.sample(
                "gateway_coordinator_questions_total", [("result", result)], Double(state.questions[result, default: 0])
            )
        }
        text.family("gateway_coordinator_answer_seconds", .histogram, "Time until the coordinator answered")
        text.histogram("gateway_coordinator_answer_seconds", [], state.answerSeconds)
    }

    private func writeGroups(_ state: State, to text: inout MetricsText) {
        let groups = Endpoint.Group.allCases.map { ($0.rawValue, state.groups[$0, default: GroupCounts()]) }
        text.family("gateway_http_request_duration_seconds", .histogram, "Time until an answer ended")
        for (name, counts) in groups {
            text.histogram("gateway_http_request_duration_seconds", [("group", name)], counts.duration)
        }
        text.family("gateway_http_first_byte_seconds", .histogram, "Time until an answer began")
        for (name, counts) in groups {
            text.histogram("gateway_http_first_byte_seconds", [("group", name)], counts.firstByte)
        }
        text.family("gateway_http_response_bytes_total", .counter, "Bytes of bodies that were sent")
        for (name, counts) in groups {
            text.sample("gateway_http_response_bytes_total", [("group", name)], Double(counts.bytes))
        }
        text.family("gateway_not_modified_total", .counter, "Answers without a body because the client has it")
        for (name, counts) in groups {
            text.sample("gateway_not_modified_total", [("group", name)], Double(counts.notModified))
        }
        text.family("gateway_http_in_flight", .gauge, "Requests whose answer did not end")
        for (name, counts) in groups {
            text.sample("gateway_http_in_flight", [("group", name)], Double(counts.inFlight))
        }
    }
}
