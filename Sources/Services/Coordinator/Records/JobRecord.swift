import Foundation
import GRDB
import Scheduling
import Wire

/// A job's own row; its submission and its times are further columns.
///
/// A field with `status` is shown without further code.
enum JobRecord {
    static let table = RecordTable<JobSummary>(
        "job", insert: "INSERT", extra: ["spec", "created"], assignments: ["ended = COALESCE(ended, ?)"], key: ["id"],
        [
            RecordField("id", log: 0, isFixed: true) { $0.id },
            RecordField("request_id", log: 1, isFixed: true, at: \.requestID),
            RecordField("priority", log: 2, at: \.priority, status: \.priority),
            RecordField("weight", log: 3, at: \.weight, status: \.weight),
            RecordField("allowed_missing", log: 4, isFixed: true, at: \.allowedMissing),
            RecordField("state", log: 5, at: \.state),
            RecordField("reason", log: 6, at: \.reason),
            RecordField("tiles", log: 7, at: \.counts.tiles, status: \.tiles),
            RecordField("stored", log: 8, at: \.counts.stored, status: \.stored),
            RecordField("empty", log: 9, at: \.counts.empty, status: \.empty),
            RecordField("failed", log: 10, at: \.counts.failed, status: \.failed),
            RecordField("bytes", log: 11, at: \.counts.bytes, status: \.bytes),
            RecordField("reused", log: 12, at: \.counts.reused, status: \.reused),
            RecordField("not_modified", log: 13, at: \.counts.notModified, status: \.notModified),
            RecordField("received", log: 14, at: \.counts.received, status: \.received),
            RecordField("after", log: 15, at: \.after),
            RecordField("identity", log: 16, isFixed: true, at: \.identity),
            RecordField("keeps", log: 17, at: \.keepsBlobs),
            RecordField("was_paused", log: 18, at: \.wasPaused),
            RecordField("source_version", log: 19, at: \.sourceVersion),
            RecordField("received_again", log: 20, at: \.counts.receivedAgain, status: \.receivedAgain),
            RecordField("not_sent", log: 21, at: \.counts.notSent, status: \.notSent),
            RecordField("block_list", log: 22, at: \.blockList, status: \.blockList),
        ]
            // Batches by state: 32 to 37.
            + BatchState.allCases.map { state in
                RecordField("\(state)", log: 32 + UInt32(state.rawValue), at: \.counts[state])
            })

    static func summary(_ id: JobID, _ field: RecordReader) throws -> JobSummary {
        var summary = JobSummary(id: id, requestID: "", priority: 0, weight: 1, allowedMissing: 0)
        try table.read(into: &summary, field)
        summary.weight = max(summary.weight, 1)
        return summary
    }
}

extension StateStore {
    static func summary(_ row: Row) throws -> JobSummary {
        let id = JobID(key: try row.value("id"))
        return try JobRecord.summary(id, RecordReader(row) { "job \(id)" })
    }

    static func update(_ summary: JobSummary, _ db: Database, wall: Int64) throws {
        try JobRecord.table.update(summary, further: [summary.state.isFinal ? wall : nil, summary.key], db)
    }
}
