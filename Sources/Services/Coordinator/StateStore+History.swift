import Foundation
import GRDB
import Scheduling
import Wire

/// The conditions of a list of jobs.
struct JobFilter: Sendable {
    /// States, and `paused` for paused unfinished jobs; empty = all.
    var states: Set<String> = []
    /// Part of the label in lower case; empty = any.
    var label = ""
    /// Submitted at this time or later; milliseconds since 1970, 0 = at any time.
    var since: Int64 = 0

    /// No condition.
    init() {}

    init(_ body: PBListJobs) {
        states = Set(body.states)
        label = body.label.lowercased()
        since = body.sinceMs
    }

    /// Whether a job meets the conditions.
    func matches(state: String, isPaused: Bool, label: String, created: Int64) -> Bool {
        (states.isEmpty || states.contains(state) || isPaused && states.contains("paused"))
            && (self.label.isEmpty || label.lowercased().contains(self.label)) && created >= since
    }
}

/// The summaries of jobs that the coordinator has forgotten.
///
/// A row is written in the transaction that forgets the job, and is never changed. It is not part of the
/// state that the event log replays. The job's last line in the log, `job-forgotten`, exists as long as the row, and
/// ``StateStore/historyProblems()`` compares the two. The history is not read at a start.
extension StateStore {
    /// The number of the newest job numbers whose summaries are kept.
    ///
    /// About 400 bytes per job in the state file, including indexes and the line in the log.
    static let historyJobs: Int64 = 100_000
    /// The number of job numbers that one query reads, so that no query blocks the state file for long: about 5 ms.
    static let historyWindow: UInt64 = 10_000

    /// Summaries, newest first, and the position of the next page.
    struct HistoryPage: Sendable {
        var jobs: [PBJobStatus] = []
        /// All forgotten jobs from this number up to the requested one were read; 0 = all of them.
        var floor: JobID = 0
    }

    /// A job's stored status: a wire frame, so that the wire decoder reads and checks it.
    static func encoded(_ status: PBJobStatus) throws -> [UInt8] {
        try Frame(session: 1, seq: 0, .jobStatus(status)).encoded()
    }

    private static func summary(decoding bytes: Data) throws -> PBJobStatus {
        guard case .jobStatus(let status) = try Frame(decoding: Array(bytes)).message else {
            throw unreadable("the summary of a forgotten job is not a job status")
        }
        return status
    }

    /// Moves a job that is being forgotten into the history.
    static func moveToHistory(_ job: JobID, _ db: Database) throws {
        guard let row = try Row.fetchOne(db, sql: "SELECT * FROM job WHERE id = ?", arguments: [job.key])
        else { return }
        let payload: Data = try row.value("spec")
        // An unreadable submission was refused at the start; a job without a label is better than no job.
        let spec = try? JobSpec(payload: Array(payload), withMasks: false)
        let packages = try Int.fetchOne(
            db, sql: "SELECT count(*) FROM package WHERE job = ?", arguments: [job.key])
        let times = try times(row)
        var status = WireConversions.status(
            try summary(row), spec: spec, times: times, packages: [], wall: times.ended ?? times.created)
        status.summary = true
        status.packagesTotal = UInt32(clamping: packages ?? 0)
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO history VALUES (?, ?, ?, ?, ?)")
            .execute(arguments: [
                job.key, status.state, status.label.lowercased(), times.created,
                Data(try encoded(status)),
            ])
    }

    /// Removes summaries beyond the limit, each with its job's last line in the log.
    ///
    /// That of a job whose rows are still being removed stays until they are gone.
    static func trimHistory(_ db: Database) throws {
        let last = try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'job'") ?? 0
        let gone = try Int64.fetchAll(
            db,
            sql: """
                DELETE FROM history WHERE id <= ? AND NOT EXISTS (SELECT 1 FROM job WHERE job.id = history.id)
                RETURNING id
                """, arguments: [last - historyJobs])
        for job in gone {
            try db.cachedStatement(sql: "DELETE FROM event WHERE job = ?").execute(arguments: [job])
        }
    }

    /// The summary of a forgotten job, or `nil`.
    func history(of job: JobID) async throws -> PBJobStatus? {
        try await perform { db in
            try Data.fetchOne(db, sql: "SELECT status FROM history WHERE id = ?", arguments: [job.key])
                .map { try StateStore.summary(decoding: $0) }
        }
    }

    /// At most `limit` of the forgotten jobs with numbers below `before`.
    ///
    /// Reads at most ``historyWindow`` numbers, so a page may be empty although there are more jobs; see
    /// ``HistoryPage/floor``.
    func history(before: JobID, limit: Int, _ filter: JobFilter) async throws -> HistoryPage {
        let before = Int64(clamping: before.rawValue)
        return try await perform { db in
            guard
                let top = try Int64.fetchOne(db, sql: "SELECT max(id) FROM history WHERE id < ?", arguments: [before])
            else { return HistoryPage() }
            let low = max(top - Int64(StateStore.historyWindow) + 1, 1)
            var sql = "SELECT status FROM history WHERE id < ? AND id >= ?"
            var arguments: StatementArguments = [before, low]
            if !filter.states.isEmpty {
                sql += " AND state IN (\(filter.states.map { _ in "?" }.joined(separator: ",")))"
                arguments += StatementArguments(filter.states.sorted())
            }
            if !filter.label.isEmpty {
                sql += " AND instr(label, ?) > 0"
                arguments += [filter.label]
            }
            if filter.since != 0 {
                sql += " AND created >= ?"
                arguments += [filter.since]
            }
            arguments += [limit]
            var page = HistoryPage()
            page.jobs = try Data.fetchAll(db, sql: sql + " ORDER BY id DESC LIMIT ?", arguments: arguments)
                .map { try StateStore.summary(decoding: $0) }
            if page.jobs.count == limit, let last = page.jobs.last {
                page.floor = JobID(last.job)
            } else if try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM history WHERE id < ?)", arguments: [low])
                == true
            {
                page.floor = JobID(UInt64(low))
            }
            return page
        }
    }

    /// The number of summaries and their problems.
    ///
    /// Each summary must be readable, belong to a job that is no longer in the state, and have the job's last line in
    /// the log.
    func historyProblems() async throws -> (count: Int, problems: [String]) {
        try await perform { db in
            var problems: [String] = []
            var count = 0
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT id, state, created, status,
                        EXISTS (SELECT 1 FROM job WHERE job.id = history.id AND job.state <> ?) AS lives,
                        EXISTS (SELECT 1 FROM event WHERE event.job = history.id AND kind = ?) AS logged
                    FROM history ORDER BY id
                    """, arguments: [StateStore.forgotten, EventKind.jobForgotten.rawValue])
            while let row = try rows.next() {
                count += 1
                let id = JobID(key: try row.value("id"))
                let bytes: Data = try row.value("status")
                // A row that cannot be decoded differs from every column, which is reported below.
                let status = try? StateStore.summary(decoding: bytes)
                let (state, created): (String, Int64) = (try row.value("state"), try row.value("created"))
                if status?.job != id.rawValue || status?.state != state || status?.submittedMs != created {
                    problems.append("job \(id): its summary in the history cannot be read")
                }
                if try row.value("lives") as Bool {
                    problems.append("job \(id) is in the state and in the history of forgotten jobs")
                }
                if try !(row.value("logged") as Bool) {
                    problems.append("job \(id) is in the history, but the event log does not say that it was forgotten")
                }
            }
            return (count, problems)
        }
    }
}
