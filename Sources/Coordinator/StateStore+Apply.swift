import Foundation
import GRDB
import Scheduling
import Tiles

extension StateStore {
    /// Applies one write inside the caller's transaction.
    static func apply(_ write: StoreWrite, _ db: Database, wall: Int64) throws {
        switch write {
        case .insertJob(let job):
            try insert(job, db, wall: wall)
        case .job(let summary): try update(summary, db, wall: wall)
        case .forget(let job):
            try remember(job, db)
            try db.cachedStatement(sql: "DELETE FROM job WHERE id = ?").execute(arguments: [Int64(bitPattern: job)])
        case .addBatches(let job, let first, let batches):
            for (offset, batch) in batches.enumerated() { try put(batch, job, first + offset, db) }
        case .reopen(let job): try reopen(job, db, wall: wall)
        case .dropped(let job, let batches): try drop(job, batches, db)
        case .schedule(let schedule, let payload): try put(schedule, payload, db)
        case .dropSchedule(let id):
            try db.cachedStatement(sql: "DELETE FROM schedule WHERE id = ?").execute(arguments: [id])
        case .originLimit(let origin, let limit): try put(limit, origin, db)
        case .batch(let job, let index, let batch): try put(batch, job, index, db)
        case .package(let job, let index, let package): try put(package, job, index, db)
        case .failures(let job, let batch, let tiles): try put(tiles, job, batch, db)
        case .orphan(let job, let digest):
            try db.cachedStatement(sql: "INSERT OR IGNORE INTO orphan VALUES (?, ?)")
                .execute(arguments: [Int64(bitPattern: job), Data(digest.bytes)])
        }
    }

    /// Stores the time of a job's first lease.
    static func noteStart(_ write: StoreWrite, _ db: Database, wall: Int64) throws {
        guard let job = write.leasedJob else { return }
        try db.cachedStatement(sql: "UPDATE job SET started = ? WHERE id = ? AND started IS NULL")
            .execute(arguments: [wall, Int64(bitPattern: job)])
    }

    private static func insert(_ job: StoredJob, _ db: Database, wall: Int64) throws {
        let row = job.summary
        let counts = row.counts
        try db.execute(
            sql: """
                INSERT INTO job (id, request_id, priority, weight, allowed_missing, state, reason, tiles, stored, empty, failed, bytes,
                    ready, leased, backoff, done, dead, spec, created, after, identity)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, ?, 0, 0, 0, 0, ?, ?, ?, ?)
                """,
            arguments: [
                Int64(bitPattern: row.id), row.requestID, row.priority, row.weight, row.allowedMissing,
                row.state.rawValue, row.reason,
                Int64(clamping: counts.tiles), Int64(clamping: counts[.ready]), Data(job.payload), wall,
                text(row.after), row.identity.map { Data($0.bytes) },
            ])
        for (index, batch) in job.batches.enumerated() { try put(batch, row.id, index, db) }
        for (index, package) in job.packages.enumerated() { try put(package, row.id, index, db) }
    }

    static func update(_ row: JobSummary, _ db: Database, wall: Int64) throws {
        let counts = row.counts
        let numbers: [(any DatabaseValueConvertible)?] = [
            row.priority, row.weight, row.state.rawValue, row.reason, Int64(clamping: counts.stored),
            Int64(clamping: counts.empty),
            Int64(clamping: counts.failed), Int64(clamping: counts.bytes), Int64(clamping: counts[.ready]),
            Int64(clamping: counts[.leased]), Int64(clamping: counts[.backoff]), Int64(clamping: counts[.done]),
            Int64(clamping: counts[.dead]), Int64(clamping: counts[.split]), Int64(clamping: counts.reused),
            Int64(clamping: counts.notModified), Int64(clamping: counts.received),
            text(row.after), row.keepsBlobs, row.hasRested, row.sourceVersion, row.state.isFinal ? wall : nil,
            Int64(bitPattern: row.id),
        ]
        try db.cachedStatement(
            sql: """
                UPDATE job SET priority = ?, weight = ?, state = ?, reason = ?, stored = ?, empty = ?, failed = ?, bytes = ?,
                    ready = ?, leased = ?, backoff = ?, done = ?, dead = ?, split = ?, reused = ?, not_modified = ?, received = ?,
                    after = ?, keeps = ?, was_paused = ?, source_version = ?,
                    ended = COALESCE(ended, ?) WHERE id = ?
                """
        ).execute(arguments: StatementArguments(numbers))
    }

    private static func text(_ jobs: [JobID]) -> String { jobs.map(String.init).joined(separator: " ") }

    static func put(_ batch: Batch, _ job: JobID, _ index: Int, _ db: Database) throws {
        let isCounted = batch.digest != nil
        func counted(_ value: UInt64) -> Int64? { isCounted ? Int64(clamping: value) : nil }
        let values: [(any DatabaseValueConvertible)?] = [
            Int64(bitPattern: job), index, Int64(bitPattern: batch.cell.hilbertID), batch.zooms.min, batch.zooms.max,
            Int64(clamping: batch.tiles), Int64(batch.state.rawValue), Int64(batch.attempts), Int64(batch.losses),
            batch.token.map { Int64(bitPattern: $0.rawValue) }, batch.owner == 0 ? nil : Int64(bitPattern: batch.owner),
            batch.digest.map { Data($0.bytes) }, counted(batch.result.stored), counted(batch.result.empty),
            counted(batch.result.failed), counted(batch.result.bodyBytes), counted(batch.result.shardBytes),
            batch.trouble?.cause, batch.trouble?.detail, batch.partial.map { Data($0.bytes) },
            counted(batch.result.reused), counted(batch.result.notModified), counted(batch.result.received),
            batch.result.footer.map { Data($0.bytes) },
        ]
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO batch (job, idx, cell, zmin, zmax, tiles, state, attempts, losses, token, owner, digest,
                    stored, empty, failed, body_bytes, shard_bytes, cause, detail, partial, reused,
                    not_modified, received, footer)
                VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
                """
        ).execute(arguments: StatementArguments(values))
    }

    static func put(_ package: Package, _ job: JobID, _ index: Int, _ db: Database) throws {
        let values: [(any DatabaseValueConvertible)?] = [
            Int64(bitPattern: job), index, package.id, Int64(clamping: package.tiles), Int64(package.state.rawValue),
            Int64(package.attempts), Int64(package.losses), package.token.map { Int64(bitPattern: $0.rawValue) },
            package.owner == 0 ? nil : Int64(bitPattern: package.owner), package.manifest.map { Data($0.bytes) },
            package.merged.map { Data($0.digest.bytes) }, package.merged.map { Int64(clamping: $0.size) },
            package.merged.map { Int64(clamping: $0.tiles) }, package.merged?.tilesHash, Int64(package.version),
            package.path,
            package.trouble?.cause, package.trouble?.detail,
        ]
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO package VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")
            .execute(arguments: StatementArguments(values))
        try db.cachedStatement(sql: "DELETE FROM package_file WHERE job = ? AND idx = ?")
            .execute(arguments: [Int64(bitPattern: job), index])
        for file in package.merged?.files ?? [] {
            try db.cachedStatement(sql: "INSERT INTO package_file VALUES (?, ?, ?, ?, ?)")
                .execute(arguments: [
                    Int64(bitPattern: job), index, file.format, Data(file.digest.bytes), Int64(clamping: file.size),
                ])
        }
    }

    private static func put(_ tiles: [FailedTile], _ job: JobID, _ batch: Int, _ db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM failure WHERE job = ? AND batch = ?")
            .execute(arguments: [Int64(bitPattern: job), batch])
        let statement = try db.cachedStatement(sql: "INSERT OR REPLACE INTO failure VALUES (?, ?, ?, ?, ?)")
        for failed in tiles {
            try statement.execute(arguments: [
                Int64(bitPattern: job), batch, Int64(bitPattern: failed.tile.hilbertID), failed.trouble.cause,
                failed.trouble.detail,
            ])
        }
    }
}
