import Foundation
import GRDB
import Scheduling

/// Jobs that were forgotten, until all of their rows are removed.
///
/// The write that forgets a job moves it into the history, adds its last line to the log, and gives its row the state
/// ``StateStore/forgotten``. From then on no part of the coordinator sees the job. Its rows and lines are removed in
/// slices afterwards, its own row with the last slice. After a crash the next start finds that row and continues.
extension StateStore {
    /// The state of a row whose job is forgotten; no ``JobState`` has this name.
    static let forgotten = "forgotten"

    /// Hides an ended job: no query about jobs, failed work or blobs finds it, and its request id is free.
    static func markForgotten(_ job: JobID, _ db: Database) throws {
        try db.cachedStatement(
            sql: "UPDATE job SET state = '\(forgotten)', request_id = '', keeps = 0, released = 1 WHERE id = ?"
        ).execute(arguments: [job.key])
    }

    /// Removes the rows and lines of all forgotten jobs.
    ///
    /// - Parameter most: Rows of one slice, each slice a transaction.
    func removeForgottenJobs(most: Int = shardsInSlice) async throws {
        while try await removeForgottenSlice(most: most) {}
    }

    /// Removes the next slice of the oldest forgotten job, if there is one.
    ///
    /// - Returns: Whether rows may be left.
    func removeForgottenSlice(most: Int) async throws -> Bool {
        try await perform { db in
            let oldest = try Int64.fetchOne(
                db, sql: "SELECT id FROM job WHERE state = '\(StateStore.forgotten)' ORDER BY id LIMIT 1")
            guard let job = oldest else { return false }
            for sql in StateStore.slicesOfForgottenJob {
                try db.cachedStatement(sql: sql).execute(arguments: [job, most])
                if db.changesCount > 0 { return true }
            }
            try db.cachedStatement(sql: "DELETE FROM job WHERE id = ?").execute(arguments: [job])
            try StateStore.trimHistory(db)
            return true
        }
    }

    /// The newest lines first: what is left of a log is then always the beginning of one, which can be replayed.
    private static let slicesOfForgottenJob = [
        """
        DELETE FROM event WHERE seq IN (
            SELECT seq FROM event WHERE job = ?1 AND kind <> \(EventKind.jobForgotten.rawValue)
                ORDER BY seq DESC LIMIT ?2)
        """,
        """
        DELETE FROM failure WHERE job = ?1 AND (batch, tile) IN (
            SELECT batch, tile FROM failure WHERE job = ?1 LIMIT ?2)
        """,
        "DELETE FROM batch WHERE job = ?1 AND idx IN (SELECT idx FROM batch WHERE job = ?1 LIMIT ?2)",
        "DELETE FROM orphan WHERE job = ?1 AND digest IN (SELECT digest FROM orphan WHERE job = ?1 LIMIT ?2)",
        "DELETE FROM package WHERE job = ?1 AND idx IN (SELECT idx FROM package WHERE job = ?1 LIMIT ?2)",
    ]
}
