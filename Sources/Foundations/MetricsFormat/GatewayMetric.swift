/// What a gateway serves.
package enum GatewayMetric: String, MetricTable {
    case requests = "gateway_http_requests_total"
    case duration = "gateway_http_request_duration_seconds"
    case firstByte = "gateway_http_first_byte_seconds"
    case bytes = "gateway_http_response_bytes_total"
    case notModified = "gateway_not_modified_total"
    case inFlight = "gateway_http_in_flight"
    case connections = "gateway_connections"
    case eventStreams = "gateway_event_streams"
    case openArchives = "gateway_open_archives"
    case cuts = "gateway_connections_cut_total"
    case refused = "gateway_refused_total"
    case ranges = "gateway_ranges_total"
    case tiles = "gateway_tiles_total"
    case extracts = "gateway_extracts_total"
    case extractSeconds = "gateway_extract_seconds"
    case coordinatorUp = "gateway_coordinator_up"
    case questions = "gateway_coordinator_questions_total"
    case answerSeconds = "gateway_coordinator_answer_seconds"
    case catalogSequence = "gateway_catalog_sequence"
    case catalogPackages = "gateway_catalog_packages"
    case catalogBytes = "gateway_catalog_bytes"
    case catalogChanged = "gateway_catalog_changed_timestamp_seconds"

    private static let group = MetricFamily.Label.closed(
        "group", ["list", "file", "tile", "style", "api", "events", "extract", "page"])

    package var family: MetricFamily {
        switch self {
        case .requests:
            .counter(
                "Answered requests", .bounded("route", "the names of the routes, `other` for an unknown path"),
                .closed("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "other"]),
                .bounded("code", "the status codes that the gateway sends"))
        case .duration: .histogram("Time until an answer ended", Self.group)
        case .firstByte: .histogram("Time until an answer began", Self.group)
        case .bytes: .counter("Bytes of bodies that were sent", Self.group)
        case .notModified: .counter("Answers without a body because the client has it", Self.group)
        case .inFlight: .gauge("Requests whose answer did not end", Self.group)
        case .connections: .gauge("Open connections")
        case .eventStreams: .gauge("Open streams of events")
        case .openArchives: .gauge("Open files with tiles")
        case .cuts:
            .counter(
                "Connections that were cut",
                .closed("reason", ["idle", "slow-head", "slow-body", "slow-reader", "too-many", "oversize"]))
        case .refused:
            .counter(
                "Requests that were refused", .closed("reason", ["rate", "quota", "token", "role", "size"]))
        case .ranges:
            .counter("Requests with ranges", .closed("kind", ["one", "several", "unsatisfiable", "stale"]))
        case .tiles: .counter("Requests for tiles", .closed("result", ["found", "empty", "outside", "damaged"]))
        case .extracts:
            .counter(
                "Requests for extracts",
                .closed("result", ["served", "built", "joined", "too-big", "failed", "gave-up"]))
        case .extractSeconds: .histogram("Time to build an extract")
        case .coordinatorUp: .gauge("Whether the coordinator answered the last question; absent before the first one")
        case .questions:
            .counter("Questions to the coordinator", .closed("result", ["answered", "problem", "silent"]))
        case .answerSeconds: .histogram("Time until the coordinator answered")
        case .catalogSequence: .gauge("Sequence of the catalog")
        case .catalogPackages: .gauge("Packages of the catalog")
        case .catalogBytes: .gauge("Bytes of all files that the catalog names")
        case .catalogChanged: .gauge("When the catalog was read last")
        }
    }
}
