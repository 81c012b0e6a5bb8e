import Foundation
import TestSupport
import Testing

/// An archive that is replaced or written to while a job reads it never gives a package of two versions.
///
/// The archive has 5,461 tiles, all of the same body: a red pixel, or in the other version a blue one of the same length. So a package with
/// two different bodies is a mixture.
@Suite(.serialized, .timeLimit(.programs), .enabled(if: SQLiteShell.isThere, "sqlite3 is absent"))
struct ReplacedArchiveTests {
    private static let zoom = 8

    private enum Change: String, CaseIterable {
        /// Another file gets the name.
        case rename
        /// One transaction with a rollback journal.
        case rollback
        /// Transactions in a write-ahead log, at last taken over into the file.
        case log
    }

    private static func red(_ file: URL, _ scratch: Scratch) async throws {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
        try await SQLiteShell.archive(file, body: SQLiteShell.red, zoom: zoom, in: scratch)
    }

    private static func make(_ change: Change, of file: URL, _ scratch: Scratch) async throws {
        let update = "UPDATE tiles SET tile_data = \(SQLiteShell.blue);"
        switch change {
        case .rename:
            let other = scratch.url("other.mbtiles")
            try await SQLiteShell.archive(other, body: SQLiteShell.blue, zoom: zoom, in: scratch)
            try #require(rename(other.path, file.path) == 0)
        case .rollback: try await SQLiteShell.run(file, "PRAGMA busy_timeout = 20000; \(update)", in: scratch)
        case .log:
            let half = "UPDATE tiles SET tile_data = \(SQLiteShell.blue) WHERE tile_column % 2 = 0;"
            try await SQLiteShell.run(
                file, "PRAGMA busy_timeout = 20000; PRAGMA journal_mode = WAL; \(half) \(update)", in: scratch)
        }
    }

    /// How many different bodies the package of a job that is done has; `nil` for one that failed because of the change.
    private func bodies(of job: Job, reason: String, _ scratch: Scratch) async throws -> Int? {
        guard job.state == "done" else {
            #expect(job.state == "failed" && reason.contains("source-changed"), "\(job.state) \(reason)")
            #expect(reason.contains("Submit the job again"))
            return nil
        }
        let package = try #require(job.packages.first?.path)
        let counts = try await SQLiteShell.run(
            URL(filePath: package), "SELECT count(DISTINCT tile_data), count(*) FROM tiles;", in: scratch)
        let numbers = counts.split(whereSeparator: { $0 == "|" || $0.isNewline }).compactMap { Int($0) }
        try #require(numbers.count == 2 && numbers[1] == job.stored)
        return numbers[0]
    }

    private func end(of job: String, _ cluster: Cluster) async throws -> (Job, reason: String) {
        _ = try await cluster.run(["watch", job, "--progress", "none"])
        let shown = try await cluster.run(["status", job, "--json"])
        let object = try JSONSerialization.jsonObject(with: Data(shown.output.utf8)) as? [String: Any]
        return (try Job(json: shown.output), object?["reason"] as? String ?? "")
    }

    @Test func noMomentGivesAMixture() async throws {
        let scratch = try Scratch()
        let file = scratch.url("source.mbtiles")
        try await Self.red(file, scratch)
        let cluster = try await Cluster(workers: 2, in: scratch)
        let area = [
            "bbox(-180,-85,180,85)", "--tile-limit", "100000", "--zoom", "0-\(Self.zoom)", "--tileset",
            "mbtiles:\(file.path)",
        ]
        var random = SystemRandomNumberGenerator()
        var ends: [Int?] = []
        for (number, change) in (Change.allCases + Change.allCases + Change.allCases).enumerated() {
            try await Self.red(file, scratch)
            let job = try await cluster.submit(area + ["--request-id", "\(number)"])
            if number < Change.allCases.count {
                // Once certainly in the middle, else at any moment.
                try await Eventually.holds("it has some tiles") { try await cluster.status(job).batchesDone >= 1 }
            } else {
                try await Task.sleep(for: .milliseconds(Int.random(in: 0..<700, using: &random)))
            }
            let before = try await cluster.status(job).state
            try await Self.make(change, of: file, scratch)
            let (ended, reason) = try await end(of: job, cluster)
            let bodies = try await bodies(of: ended, reason: reason, scratch)
            #expect(bodies == nil || bodies == 1, "\(change), attempt \(number), then \(before): a mixture")
            ends.append(bodies)
        }
        #expect(ends.contains(nil), "no change met a running job: \(ends)")
        try await cluster.stop()
    }

    @Test func aRestartBetweenTwoVersionsMixesNothing() async throws {
        let scratch = try Scratch()
        let file = scratch.url("source.mbtiles")
        try await Self.red(file, scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let area = [
            "bbox(-180,-85,180,85)", "--tile-limit", "100000", "--zoom", "0-\(Self.zoom)", "--tileset",
            "mbtiles:\(file.path)",
        ]
        let job = try await cluster.submit(area)
        try await Eventually.holds("it has some tiles") { try await cluster.status(job).batchesDone >= 1 }
        _ = try await cluster.run(["pause", job])
        try await cluster.coordinator?.killNow()
        for worker in cluster.workers { try await worker.killNow() }
        try await Self.make(.rename, of: file, scratch)
        try await cluster.startCoordinator()
        try cluster.startWorker()
        if try await cluster.status(job).state == "fetching" {
            #expect(try await cluster.run(["resume", job]).status == 0)
            let (ended, reason) = try await end(of: job, cluster)
            #expect(try await bodies(of: ended, reason: reason, scratch) == nil)
            // Nor does a retry mix them; the same submission as a new job takes the new version.
            _ = try await cluster.run(["retry", job])
            let (again, why) = try await end(of: job, cluster)
            #expect(try await bodies(of: again, reason: why, scratch) == nil)
        }
        let new = try await cluster.build(area + ["--request-id", "new"])
        #expect(try await bodies(of: new, reason: "", scratch) == 1)
        try await cluster.stop()
    }
}
