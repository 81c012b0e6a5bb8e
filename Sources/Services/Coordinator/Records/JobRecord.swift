import Foundation
import GRDB
import Scheduling

/// A job's own row; its submission and its times are further columns.
enum JobRecord {
    static let table = RecordTable<JobSummary>(
        "job", insert: "INSERT", extra: ["spec", "created"], assignments: ["ended = COALESCE(ended, ?)"], key: ["id"],
        [
            RecordField("id", log: 0, isFixed: true) { $0.id },
            RecordField("request_id", log: 1, isFixed: true) { $0.requestID },
            RecordField("priority", log: 2) { $0.priority },
            RecordField("weight", log: 3) { $0.weight },
            RecordField("allowed_missing", log: 4, isFixed: true) { $0.allowedMissing },
            RecordField("state", log: 5) { $0.state },
            RecordField("reason", log: 6) { $0.reason },
            RecordField("tiles", log: 7) { $0.counts.tiles },
            RecordField("stored", log: 8) { $0.counts.stored },
            RecordField("empty", log: 9) { $0.counts.empty },
            RecordField("failed", log: 10) { $0.counts.failed },
            RecordField("bytes", log: 11) { $0.counts.bytes },
            RecordField("reused", log: 12) { $0.counts.reused },
            RecordField("not_modified", log: 13) { $0.counts.notModified },
            RecordField("received", log: 14) { $0.counts.received },
            RecordField("after", log: 15) { $0.after },
            RecordField("identity", log: 16, isFixed: true) { $0.identity },
            RecordField("keeps", log: 17) { $0.keepsBlobs },
            RecordField("was_paused", log: 18) { $0.wasPaused },
            RecordField("source_version", log: 19) { $0.sourceVersion },
        ]
            // Batches by state: 32 to 37.
            + BatchState.allCases.map { state in
                RecordField("\(state)", log: 32 + UInt32(state.rawValue)) { $0.counts[state] }
            })

    static func summary(_ id: JobID, _ field: RecordReader) throws -> JobSummary {
        var counts = JobCounts()
        counts.tiles = try field("tiles")
        counts.stored = try field("stored")
        counts.empty = try field("empty")
        counts.failed = try field("failed")
        counts.bytes = try field("bytes")
        counts.reused = try field("reused")
        counts.notModified = try field("not_modified")
        counts.received = try field("received")
        counts.batches = try BatchState.allCases.map { try field("\($0)") }
        return JobSummary(
            id: id, requestID: try field("request_id"), priority: try field("priority"), weight: try field("weight"),
            allowedMissing: try field("allowed_missing"), state: try field("state"), reason: try field("reason"),
            counts: counts, after: try field("after"), identity: try field("identity"),
            keepsBlobs: try field("keeps"), wasPaused: try field("was_paused"),
            sourceVersion: try field("source_version"))
    }
}

extension StateStore {
    static func summary(_ row: Row) throws -> JobSummary {
        let id = JobID(key: row["id"])
        return try JobRecord.summary(id, RecordReader(row) { "job \(id)" })
    }

    static func update(_ summary: JobSummary, _ db: Database, wall: Int64) throws {
        try JobRecord.table.update(summary, further: [summary.state.isFinal ? wall : nil, summary.key], db)
    }
}
