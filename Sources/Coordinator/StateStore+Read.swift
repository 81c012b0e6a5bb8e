import Errors
import Foundation
import GRDB
import Scheduling
import Tiles

/// When a job was submitted, started and ended.
///
/// Wall time, for display only.
///
/// Unit: milliseconds since 1970.
struct JobTimes: Hashable, Sendable {
    var created: Int64
    /// The time of the first lease.
    var started: Int64?
    var ended: Int64?
}

/// The state that a coordinator starts with.
struct Inheritance: Sendable {
    var jobs: [StoredJob] = []
    var times: [JobID: JobTimes] = [:]
    /// The highest job number that was ever used.
    var lastJob: JobID = 0
    var schedules: [Schedule] = []
    var operatorLimits: OperatorLimits = [:]
    /// The sessions that may hold shares granted by the last run; `nil` = not stored.
    var holders: ShareHolders?
}

extension StateStore {
    /// The whole state, read once per start.
    ///
    /// Ended jobs come without batches unless requested.
    func load(withEnded: Bool = false) async throws -> Inheritance {
        let epoch = epoch
        return try await perform { db in
            var all = Inheritance()
            let last = try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'job'")
            all.lastJob = last.map { UInt64(bitPattern: $0) } ?? 0
            for row in try Row.fetchAll(db, sql: "SELECT * FROM job ORDER BY id") {
                let summary = try StateStore.summary(row)
                let files = try StateStore.files(of: summary.key, db)
                let packages = try Row.fetchAll(
                    db, sql: "SELECT * FROM package WHERE job = ? ORDER BY idx", arguments: [summary.key]
                )
                .map { try StateStore.package($0, files) }
                let batches =
                    summary.state.isFinal && !withEnded
                    ? []
                    : try Row.fetchAll(
                        db, sql: "SELECT * FROM batch WHERE job = ? ORDER BY idx", arguments: [summary.key]
                    )
                    .map(StateStore.batch)
                let payload: Data = row["spec"]
                all.jobs.append(
                    StoredJob(summary: summary, batches: batches, packages: packages, payload: Array(payload)))
                all.times[summary.id] = StateStore.times(row)
            }
            all.schedules = try StateStore.schedules(db)
            all.operatorLimits = try StateStore.operatorLimits(db)
            all.holders = try StateStore.holders(before: epoch, db)
            return all
        }
    }

    /// The batches of an ended job that have a shard.
    func shards(of job: JobID) async throws -> [Batch] {
        try await perform { db in
            try Row.fetchAll(
                db,
                sql: "SELECT * FROM batch WHERE job = ? AND (digest IS NOT NULL OR partial IS NOT NULL) ORDER BY idx",
                arguments: [Int64(bitPattern: job)]
            ).map(StateStore.batch)
        }
    }

    /// A job's failures, at most `limit`: first dead batches, ordered by cell, then single tiles.
    func failures(of job: JobID, limit: Int) async throws -> [FailedTile] {
        try await perform { db in
            let key = Int64(bitPattern: job)
            let dead = try Row.fetchAll(
                db,
                sql: "SELECT cell, tiles, cause, detail FROM batch WHERE job = ? AND state = ? ORDER BY idx LIMIT ?",
                arguments: [key, Int64(BatchState.dead.rawValue), limit]
            ).compactMap { row -> FailedTile? in
                guard let tile = TileID(hilbertID: StateStore.number(row["cell"])) else { return nil }
                let detail =
                    "\(StateStore.number(row["tiles"])) tiles in and below this one: \(row["detail"] as String? ?? "")"
                return FailedTile(tile: tile, trouble: Trouble(cause: row["cause"] ?? "unknown", detail: detail))
            }
            let single = try Row.fetchAll(
                db, sql: "SELECT tile, cause, detail FROM failure WHERE job = ? ORDER BY tile LIMIT ?",
                arguments: [key, max(limit - dead.count, 0)]
            ).compactMap { row -> FailedTile? in
                guard let tile = TileID(hilbertID: StateStore.number(row["tile"])) else { return nil }
                return FailedTile(tile: tile, trouble: Trouble(cause: row["cause"], detail: row["detail"]))
            }
            return dead + single
        }
    }

    // MARK: - Rows

    static func number(_ value: Int64?) -> UInt64 { UInt64(bitPattern: value ?? 0) }

    static func times(_ row: Row) -> JobTimes {
        JobTimes(created: row["created"], started: row["started"], ended: row["ended"])
    }

    static func summary(_ row: Row) throws -> JobSummary {
        var counts = JobCounts()
        counts.tiles = number(row["tiles"])
        counts.stored = number(row["stored"])
        counts.empty = number(row["empty"])
        counts.failed = number(row["failed"])
        counts.bytes = number(row["bytes"])
        counts.batches = ["ready", "leased", "backoff", "done", "dead", "split"].map { number(row[$0]) }
        counts.reused = number(row["reused"])
        counts.notModified = number(row["not_modified"])
        counts.received = number(row["received"])
        let state: String = row["state"]
        guard let known = JobState(rawValue: state) else {
            throw unreadable("job \(row["id"] as Int64) has state '\(state)'")
        }
        return JobSummary(
            id: number(row["id"]), requestID: row["request_id"], priority: Int32(clamping: row["priority"] as Int64),
            weight: UInt32(clamping: row["weight"] as Int64), allowedMissing: row["allowed_missing"], state: known,
            reason: row["reason"], counts: counts,
            after: (row["after"] as String).split(separator: " ").compactMap { JobID($0) },
            identity: digest(row["identity"]), keepsBlobs: row["keeps"], hasRested: row["was_paused"],
            sourceVersion: row["source_version"])
    }

    static func batch(_ row: Row) throws -> Batch {
        guard let cell = TileID(hilbertID: number(row["cell"])),
            let zooms = ZoomRange(min: Int(row["zmin"] as Int64), max: Int(row["zmax"] as Int64)),
            let state = BatchState(rawValue: UInt8(clamping: row["state"] as Int64))
        else { throw unreadable("batch \(row["job"] as Int64)/\(row["idx"] as Int64) has inconsistent values") }
        let result = FetchCounts(
            stored: number(row["stored"]), empty: number(row["empty"]), failed: number(row["failed"]),
            bodyBytes: number(row["body_bytes"]), shardBytes: number(row["shard_bytes"]),
            reused: number(row["reused"]), notModified: number(row["not_modified"]), received: number(row["received"]),
            footer: digest(row["footer"]))
        return Batch(
            cell: cell, zooms: zooms, tiles: number(row["tiles"]), state: state,
            attempts: UInt8(clamping: row["attempts"] as Int64),
            losses: UInt8(clamping: row["losses"] as Int64), token: token(row), owner: number(row["owner"]),
            digest: digest(row["digest"]), partial: digest(row["partial"]), result: result, trouble: trouble(row))
    }

    /// The files of a job's packages in addition to MBTiles, by the index of the package.
    private static func files(of job: Int64, _ db: Database) throws -> [Int64: [MergedFile]] {
        var files: [Int64: [MergedFile]] = [:]
        let rows = try Row.fetchAll(
            db, sql: "SELECT * FROM package_file WHERE job = ? ORDER BY idx, format", arguments: [job])
        for row in rows {
            let index: Int64 = row["idx"]
            guard let digest = digest(row["digest"]) else {
                throw unreadable("a file of package \(job)/\(index) has no valid digest")
            }
            files[index, default: []].append(
                MergedFile(format: row["format"], digest: digest, size: number(row["size"])))
        }
        return files
    }

    private static func package(_ row: Row, _ files: [Int64: [MergedFile]]) throws -> Package {
        guard let state = PackageState(rawValue: UInt8(clamping: row["state"] as Int64)) else {
            throw unreadable("package \(row["job"] as Int64)/\(row["idx"] as Int64) has inconsistent values")
        }
        let merged = digest(row["digest"]).map {
            MergedPackage(
                digest: $0, size: number(row["size"]), tiles: number(row["merged_tiles"]),
                tilesHash: row["tiles_hash"] ?? "", files: files[row["idx"]] ?? [])
        }
        return Package(
            id: row["id"], tiles: number(row["tiles"]), state: state,
            attempts: UInt8(clamping: row["attempts"] as Int64),
            losses: UInt8(clamping: row["losses"] as Int64), token: token(row), owner: number(row["owner"]),
            manifest: digest(row["manifest"]), merged: merged, version: UInt32(clamping: row["version"] as Int64),
            path: row["path"], trouble: trouble(row))
    }

    private static func token(_ row: Row) -> LeaseToken? {
        (row["token"] as Int64?).map { LeaseToken(UInt64(bitPattern: $0)) }
    }
    private static func digest(_ bytes: Data?) -> ContentDigest? { bytes.flatMap { ContentDigest($0) } }
    private static func trouble(_ row: Row) -> Trouble? {
        (row["cause"] as String?).map { Trouble(cause: $0, detail: row["detail"] ?? "") }
    }
    static func unreadable(_ what: String) -> CoordinatorError {
        CoordinatorError(.damagedState, "The state file cannot be decoded: \(what). Restore it from a backup.")
    }
}

extension JobSummary {
    /// The key of the job's row.
    var key: Int64 { Int64(bitPattern: id) }
}
