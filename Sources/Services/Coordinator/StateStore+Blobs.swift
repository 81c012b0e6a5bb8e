import Digests
import Foundation
import GRDB
import Scheduling

extension StateStore {
    /// Ended jobs whose blobs have not been removed.
    func unreleased() async throws -> [JobID] {
        try await perform { db in
            try Int64.fetchAll(
                db, sql: "SELECT id FROM job WHERE released = 0 AND ended IS NOT NULL AND keeps = 0 ORDER BY id"
            ).map { JobID(key: $0) }
        }
    }

    /// Every blob that rows of an ended job name, but no row of an unfinished job or of a job in `kept`: shards,
    /// orphans, manifests and merged packages.
    ///
    /// For a finished job that keeps its shards, these are the other blobs: its manifests and packages, and results
    /// that were not accepted.
    ///
    /// Equal bytes are one blob: an overlapping job that reused this job's shards may have produced identical ones.
    ///
    /// The rows are read in slices. What is named after the call began may be missing from the rows that were read: see
    /// ``BlobRemovals/open()``.
    func blobs(of job: JobID, keeping kept: [JobID] = []) async throws -> [Digest] {
        let kept = Set(kept.filter { $0 != job })
        let (others, needing) = try await perform { db in
            (try StateStore.packageBlobs(of: job, withOrphans: true, db), try StateStore.jobsNeedingBlobs(kept, db))
        }
        var own = try await shardDigests(of: job) + others
        for other in needing where !own.isEmpty {
            var needed = Set(try await shardDigests(of: other.job))
            if !other.isPublished {
                needed.formUnion(
                    try await perform { try StateStore.packageBlobs(of: other.job, withOrphans: false, $0) })
            }
            own.removeAll(where: needed.contains)
        }
        var seen: Set<Digest> = []
        return own.filter { seen.insert($0).inserted }
    }

    /// The shards and partial shards of a job's batches, read in slices.
    private func shardDigests(of job: JobID) async throws -> [Digest] {
        var (all, after): ([Digest], Int64) = ([], -1)
        while true {
            let start = after
            let slice = try await perform { db in
                try Row.fetchAll(
                    db,
                    sql: """
                        SELECT idx, digest, partial FROM batch
                        WHERE job = ? AND idx > ? AND (digest IS NOT NULL OR partial IS NOT NULL)
                        ORDER BY idx LIMIT ?
                        """, arguments: [job.key, start, StateStore.shardsInSlice]
                ).map { row in
                    (
                        index: try row.value("idx") as Int64,
                        digests: [try row.optional("digest") as Data?, try row.optional("partial")].compactMap {
                            $0.flatMap { Digest(bytes: $0) }
                        }
                    )
                }
            }
            all += slice.flatMap(\.digests)
            guard slice.count == Self.shardsInSlice, let last = slice.last else { return all }
            after = last.index
        }
    }

    /// Rows of one slice of ``shardDigests(of:)`` and of a removal: about 5 ms of the connection.
    static let shardsInSlice = 2_000

    /// The manifests and files of a job's packages.
    private static func packageBlobs(
        of job: JobID, withOrphans: Bool, _ db: Database
    ) throws -> [Digest] {
        try Data.fetchAll(
            db,
            sql: """
                \(withOrphans ? "SELECT digest FROM orphan WHERE job = :job UNION" : "")
                SELECT manifest FROM package WHERE job = :job AND manifest IS NOT NULL
                UNION SELECT digest FROM package WHERE job = :job AND digest IS NOT NULL
                UNION SELECT digest FROM package_file WHERE job = :job
                """, arguments: ["job": job.key]
        ).compactMap { Digest(bytes: $0) }
    }

    /// The jobs whose shards are needed, and whether their packages are needed no more.
    private static func jobsNeedingBlobs(
        _ kept: Set<JobID>, _ db: Database
    ) throws -> [(job: JobID, isPublished: Bool)] {
        try Row.fetchAll(db, sql: "SELECT id, ended, keeps, state FROM job ORDER BY id").compactMap { row in
            let (job, keeps) = (JobID(key: try row.value("id")), try row.value("keeps") as Bool)
            let isEnded = try row.optional("ended") as Int64? != nil
            guard !isEnded || keeps || kept.contains(job) else { return nil }
            let isDone = try row.value("state") == JobState.done.rawValue
            let needsPackages = !isEnded || keeps && !isDone
            return (job, !needsPackages)
        }
    }

    /// Every blob named by a job whose blobs have not been removed.
    ///
    /// The packages of other jobs keep their digests for reports. A blob with such a digest was written after its job
    /// had released it.
    func allBlobs() async throws -> Set<Digest> {
        try await perform { db in
            let unreleased = "job IN (SELECT id FROM job WHERE released = 0)"
            return Set(
                try Data.fetchAll(
                    db,
                    sql: """
                        SELECT digest FROM batch WHERE digest IS NOT NULL AND \(unreleased)
                        UNION SELECT partial FROM batch WHERE partial IS NOT NULL AND \(unreleased)
                        UNION SELECT digest FROM orphan WHERE \(unreleased)
                        UNION SELECT manifest FROM package WHERE manifest IS NOT NULL AND \(unreleased)
                        UNION SELECT digest FROM package WHERE digest IS NOT NULL AND \(unreleased)
                        UNION SELECT digest FROM package_file WHERE \(unreleased)
                        """
                ).compactMap { Digest(bytes: $0) })
        }
    }

    /// Removes the rows that only the blobs needed, in slices.
    ///
    /// Rows of failed work stay for the report. After a crash the next start finds the job unreleased and calls this
    /// again.
    func markReleased(_ job: JobID) async throws {
        let key = job.key
        // The newest lines first: a line about a batch must not stay behind the line that added the batch.
        let slices = [
            """
            DELETE FROM batch WHERE job = ?1 AND idx IN (
                SELECT idx FROM batch WHERE job = ?1 AND state <> \(BatchState.dead.rawValue)
                    AND COALESCE(failed, 0) = 0 LIMIT \(Self.shardsInSlice))
            """,
            """
            UPDATE batch SET digest = NULL, partial = NULL WHERE job = ?1 AND idx IN (
                SELECT idx FROM batch WHERE job = ?1 AND (digest IS NOT NULL OR partial IS NOT NULL)
                    LIMIT \(Self.shardsInSlice))
            """,
            """
            DELETE FROM event WHERE seq IN (
                SELECT seq FROM event WHERE job = ?1 AND kind IN (\(Self.batchLines)) ORDER BY seq DESC
                    LIMIT \(Self.shardsInSlice))
            """,
        ]
        for sql in slices {
            while try await perform({ db in
                try db.cachedStatement(sql: sql).execute(arguments: [key])
                return db.changesCount
            }) == Self.shardsInSlice {}
        }
        try await perform { db in
            try db.execute(sql: "DELETE FROM plan WHERE job = ?", arguments: [key])
            try db.execute(sql: "DELETE FROM orphan WHERE job = ?", arguments: [key])
            try StateStore.removePlanLine(job, db)
            try db.execute(sql: "UPDATE job SET released = 1 WHERE id = ?", arguments: [key])
        }
    }
}
