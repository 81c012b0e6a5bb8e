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
    func blobs(of job: JobID, keeping kept: [JobID] = []) async throws -> [ContentDigest] {
        try await perform { db in
            let key = job.key
            let others = kept.filter { $0 != job }.map { "\($0.key)" }.joined(separator: ",")
            let needed = "(job.ended IS NULL OR job.keeps OR job.id IN (\(others)))"
            let unpublished = "(job.ended IS NULL OR job.keeps AND job.state <> '\(JobState.done.rawValue)')"
            return try Data.fetchAll(
                db,
                sql: """
                    SELECT digest FROM batch WHERE job = ? AND digest IS NOT NULL
                    UNION SELECT partial FROM batch WHERE job = ? AND partial IS NOT NULL
                    UNION SELECT digest FROM orphan WHERE job = ?
                    UNION SELECT manifest FROM package WHERE job = ? AND manifest IS NOT NULL
                    UNION SELECT digest FROM package WHERE job = ? AND digest IS NOT NULL
                    UNION SELECT digest FROM package_file WHERE job = ?
                    EXCEPT SELECT digest FROM batch JOIN job ON job.id = batch.job WHERE \(needed)
                    EXCEPT SELECT partial FROM batch JOIN job ON job.id = batch.job WHERE \(needed)
                    EXCEPT SELECT manifest FROM package JOIN job ON job.id = package.job WHERE \(unpublished)
                    EXCEPT SELECT digest FROM package JOIN job ON job.id = package.job WHERE \(unpublished)
                    EXCEPT SELECT digest FROM package_file JOIN job ON job.id = package_file.job WHERE \(unpublished)
                    """,
                arguments: [key, key, key, key, key, key]
            ).compactMap { ContentDigest($0) }
        }
    }

    /// Every blob named by a job whose blobs have not been removed.
    ///
    /// The packages of other jobs keep their digests for reports. A blob with such a digest was written after its job
    /// had released it.
    func allBlobs() async throws -> Set<ContentDigest> {
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
                ).compactMap { ContentDigest($0) })
        }
    }

    /// Removes the rows that only the blobs needed.
    ///
    /// Rows of failed work stay for the report.
    func markReleased(_ job: JobID) async throws {
        try await perform { db in
            let key = job.key
            try db.execute(
                sql: "DELETE FROM batch WHERE job = ? AND state <> ? AND COALESCE(failed, 0) = 0",
                arguments: [key, Int64(BatchState.dead.rawValue)])
            try db.execute(sql: "UPDATE batch SET digest = NULL, partial = NULL WHERE job = ?", arguments: [key])
            try db.execute(sql: "DELETE FROM orphan WHERE job = ?", arguments: [key])
            try StateStore.removeBatchLines(job, db)
            try db.execute(sql: "UPDATE job SET released = 1 WHERE id = ?", arguments: [key])
        }
    }
}
