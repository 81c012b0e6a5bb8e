internal import Errors

/// What a worker serves.
package enum WorkerMetric: String, MetricTable {
    case tiles = "worker_tiles_total"
    case failedTiles = "worker_tiles_failed_total"
    case received = "worker_received_bytes_total"
    case requests = "worker_requests_total"
    case requestsInFlight = "worker_requests_in_flight"
    case requestSeconds = "worker_request_duration_seconds"
    case leases = "worker_leases_total"
    case failures = "worker_failures_total"
    case returned = "worker_leases_returned_total"
    case refused = "worker_results_refused_total"
    case held = "worker_leases_held"
    case shardBytes = "worker_shard_bytes_total"
    case uploads = "worker_uploads_total"
    case uploadedBytes = "worker_uploaded_bytes_total"
    case rejects = "worker_rejects_total"
    case isConnected = "worker_connected"
    case reconnects = "worker_reconnects_total"
    case coordinatorSilence = "worker_coordinator_silent_seconds"
    case obeyedEpoch = "worker_coordinator_epoch"
    case ignored = "worker_messages_ignored_total"
    case freeSpace = "worker_disk_free_bytes"
    case diskSize = "worker_disk_size_bytes"

    package var family: MetricFamily {
        switch self {
        case .tiles:
            .counter("Tiles that origins answered", .closed("result", ["found", "empty", "not-modified", "failed"]))
        case .failedTiles:
            .counter(
                "Tiles that could not be fetched", .closed("cause", FailureCause.allCases.map(\.rawValue)))
        case .received: .counter("Body bytes received from origins")
        case .requests:
            .counter("Ended requests to origins", .closed("result", ["answered", "throttled", "failed"]))
        case .requestsInFlight: .gauge("Requests to origins that did not end")
        case .requestSeconds:
            .histogram("Time until an origin answered a request", .closed("kind", ["tiles", "archive"]))
        case .leases:
            .counter(
                "Ended leases", .closed("work", ["fetch", "merge"]), .closed("result", ["done", "failed", "cancelled"]))
        case .failures:
            .counter("Leases that failed as a whole", .closed("cause", FailureCause.allCases.map(\.rawValue)))
        case .returned: .counter("Leases that were given back")
        case .refused: .counter("Results that the coordinator refused because the lease had ended")
        case .held: .gauge("Leases that the worker holds", .closed("state", ["queued", "running", "unacknowledged"]))
        case .shardBytes: .counter("Bytes of finished shards")
        case .uploads: .counter("Blobs that were put into the blob store")
        case .uploadedBytes: .counter("Bytes of blobs that were put into the blob store")
        case .rejects:
            .counter(
                "What failed a check: the tile mask or the count of a batch, a shard of an earlier build, a tile's body, a shard of a merge",
                .closed("what", ["batch", "source", "body", "shard"]))
        case .isConnected: .gauge("Whether the coordinator is connected")
        case .reconnects: .counter("Connections to the coordinator after the first")
        case .coordinatorSilence: .gauge("Time since the last message of the coordinator, or since the start")
        case .obeyedEpoch: .gauge("The highest epoch that the worker has heard; 0 before the first message")
        case .ignored: .counter("Messages of coordinators with a lower epoch than the highest one that was heard")
        case .freeSpace: .gauge("Free space on the disk of --scratch, where work in hand is")
        case .diskSize: .gauge("Size of the disk of --scratch")
        }
    }
}
