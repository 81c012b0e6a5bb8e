import Foundation
import GRDB
import Scheduling
import Tiles

/// A batch with its key.
///
/// The log has the columns of the plan once for each job, and not in each row.
struct BatchRecord: Sendable {
    let job: JobID
    let index: BatchIndex
    let batch: Batch

    /// The number of the field `idx` in the log.
    static let indexField: UInt32 = 1

    static let table = RecordTable<BatchRecord>(
        "batch", key: ["job", "idx"],
        [
            RecordField("job", log: 0) { $0.job },
            RecordField("idx", log: indexField) { $0.index },
            RecordField("cell", log: 0) { $0.batch.cell.hilbertID },
            RecordField("zmin", log: 0) { $0.batch.zooms.min },
            RecordField("zmax", log: 0) { $0.batch.zooms.max },
            RecordField("tiles", log: 0) { $0.batch.tiles },
            RecordField("role", log: 0) { $0.batch.role.code },
            RecordField("state", log: 2) { $0.batch.state },
            RecordField("attempts", log: 3) { $0.batch.attempts },
            RecordField("losses", log: 4) { $0.batch.losses },
            RecordField("token", log: 5) { $0.batch.token },
            RecordField("owner", log: 6) { $0.batch.owner == 0 ? nil : $0.batch.owner },
            RecordField("digest", log: 7) { $0.batch.digest },
            RecordField("stored", log: 8) { $0.result?.stored },
            RecordField("empty", log: 9) { $0.result?.empty },
            RecordField("failed", log: 10) { $0.result?.failed },
            RecordField("body_bytes", log: 11) { $0.result?.bodyBytes },
            RecordField("shard_bytes", log: 12) { $0.result?.shardBytes },
            RecordField("cause", log: 13) { $0.batch.trouble?.cause },
            RecordField("detail", log: 14) { $0.batch.trouble?.detail },
            RecordField("partial", log: 15) { $0.batch.partial },
            RecordField("reused", log: 16) { $0.result?.reused },
            RecordField("not_modified", log: 17) { $0.result?.notModified },
            RecordField("received", log: 18) { $0.result?.received },
            RecordField("footer", log: 19) { $0.batch.result.footer },
            RecordField("received_again", log: 20) { $0.result?.receivedAgain },
            RecordField("not_sent", log: 21) { $0.result?.notSent },
        ])

    /// The counts of a batch with a shard; without one the columns are NULL.
    private var result: FetchCounts? { batch.digest == nil ? nil : batch.result }

    static func batch(_ planned: PlannedBatch, _ field: RecordReader) throws -> Batch {
        let result = FetchCounts(
            stored: try field("stored"), empty: try field("empty"), failed: try field("failed"),
            bodyBytes: try field("body_bytes"), shardBytes: try field("shard_bytes"), reused: try field("reused"),
            notModified: try field("not_modified"), received: try field("received"),
            receivedAgain: try field("received_again"), notSent: try field("not_sent"), footer: try field("footer"))
        return Batch(
            cell: planned.cell, zooms: planned.zooms, tiles: planned.tiles, role: planned.role,
            state: try field("state"),
            attempts: try field("attempts"), losses: try field("losses"), token: try field("token"),
            owner: try field("owner"), digest: try field("digest"), partial: try field("partial"), result: result,
            trouble: try field.trouble())
    }

    /// The plan of a batch, from its row.
    static func planned(_ field: RecordReader) throws -> PlannedBatch {
        guard let cell = TileID(hilbertID: try field("cell")) else { throw field.unreadable("cell") }
        guard let zooms = ZoomRange(min: try field("zmin"), max: try field("zmax")) else {
            throw field.unreadable("zmin or zmax")
        }
        guard let role = BatchRole(code: try field("role")) else { throw field.unreadable("role") }
        return PlannedBatch(cell: cell, zooms: zooms, tiles: try field("tiles"), role: role)
    }
}

extension StateStore {
    static func batch(_ row: Row) throws -> Batch {
        let field = RecordReader(row) { "batch \(row.text("job"))/\(row.text("idx"))" }
        return try BatchRecord.batch(try BatchRecord.planned(field), field)
    }

    static func put(_ batch: Batch, job: JobID, index: BatchIndex, in db: Database) throws {
        try BatchRecord.table.put(BatchRecord(job: job, index: index, batch: batch), db)
    }
}
