import Foundation
import GRDB
import Scheduling
import Tiles
import Wire

/// The batches of a job as they were planned: one value for all of them, in the state file and in the event log.
///
/// A batch gets a row of its own with its first change, so a new job costs the same for any number of batches but for
/// the length of this value.
enum BatchPlan {
    static func logged(_ batches: [Batch]) -> PBLoggedPlan {
        PBLoggedPlan.make {
            $0.cells = batches.map(\.cell.hilbertID)
            $0.zoomMin = batches.map { UInt32($0.zooms.min) }
            $0.zoomMax = batches.map { UInt32($0.zooms.max) }
            $0.tiles = batches.map(\.tiles)
            if batches.contains(where: { $0.role != .cell }) { $0.roles = batches.map(\.role.code) }
        }
    }

    /// The batches of a plan; `nil` when its lists do not fit each other.
    static func planned(_ plan: PBLoggedPlan) -> [PlannedBatch]? {
        guard plan.zoomMin.count == plan.cells.count, plan.zoomMax.count == plan.cells.count,
            plan.tiles.count == plan.cells.count, plan.roles.isEmpty || plan.roles.count == plan.cells.count
        else { return nil }
        var batches: [PlannedBatch] = []
        batches.reserveCapacity(plan.cells.count)
        for index in plan.cells.indices {
            guard let cell = TileID(hilbertID: plan.cells[index]),
                let zooms = ZoomRange(min: Int(plan.zoomMin[index]), max: Int(plan.zoomMax[index])),
                let role = plan.roles.isEmpty ? .cell : BatchRole(code: plan.roles[index])
            else { return nil }
            batches.append(PlannedBatch(cell: cell, zooms: zooms, tiles: plan.tiles[index], role: role))
        }
        return batches
    }
}

extension StateStore {
    /// Stores the batches of a new job, or of a job with a new plan: the plan, and a row for each batch that is not as
    /// planned.
    static func putPlan(of job: StoredJob, _ db: Database) throws {
        let change = PBLoggedChange.make { $0.batchesAdded = .make { $0.plan = BatchPlan.logged(job.batches) } }
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO plan (job, batches) VALUES (?, ?)")
            .execute(arguments: [job.summary.key, Data(try change.encoded())])
        for (index, batch) in job.batches.enumerated() where !batch.isAsPlanned {
            try put(batch, job: job.summary.id, index: BatchIndex(index), in: db)
        }
    }

    /// The batches of a job as they were planned; `nil` when the plan was removed with the job's blobs.
    static func plannedBatches(of job: Int64, _ db: Database) throws -> [Batch]? {
        guard let bytes = try Data.fetchOne(db, sql: "SELECT batches FROM plan WHERE job = ?", arguments: [job]) else {
            return nil
        }
        let change = try PBLoggedChange(decoding: Array(bytes))
        guard let planned = BatchPlan.planned(change.batchesAdded.plan) else {
            throw unreadable("the plan of job \(job) is not one")
        }
        return planned.map { Batch($0) }
    }

    /// Replaces a planned batch by the one of its row, or appends a batch that a split added.
    static func replace(_ row: Row, in batches: inout [Batch]) throws {
        let index = Int(try row.value("idx") as Int64)
        let batch = try batch(row)
        guard index < 0 || index >= batches.count else {
            batches[index] = batch
            return
        }
        guard index == batches.count else {
            throw unreadable("batches before \(row.text("job"))/\(index) are missing")
        }
        batches.append(batch)
    }

    /// All batches of a job; of an ended one whose blobs are gone only those that failed.
    static func batches(of job: JobSummary, _ db: Database) throws -> [Batch] {
        let rows = try Row.fetchCursor(db, sql: "SELECT * FROM batch WHERE job = ? ORDER BY idx", arguments: [job.key])
        guard var all = try plannedBatches(of: job.key, db) else {
            guard job.state.isFinal else { throw unreadable("job \(job.id) has no plan") }
            return try Array(rows.map(batch))
        }
        while let row = try rows.next() { try replace(row, in: &all) }
        return all
    }
}
