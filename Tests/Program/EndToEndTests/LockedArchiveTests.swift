import Foundation
import TestSupport
import Testing

/// A lock that another program holds on an MBTiles file is no damage.
@Suite(.serialized, .timeLimit(.programs), .enabled(if: SQLiteShell.isThere, "sqlite3 is absent"))
struct LockedArchiveTests {
    @Test func aJobWaitsForALockAndLosesNothing() async throws {
        let scratch = try Scratch()
        let file = scratch.url("locked.mbtiles")
        try await SQLiteShell.archive(file, body: SQLiteShell.red, zoom: 6, in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let area = [
            "bbox(-180,-85,180,85)", "--tile-limit", "10000", "--zoom", "0-6", "--tileset", "mbtiles:\(file.path)",
        ]
        let job = try await cluster.submit(area)
        // Longer than a worker waits, so that batches go back as well.
        let lock = try await SQLiteShell.Lock(file, in: scratch)
        try await Task.sleep(for: .seconds(7))
        try await lock.release()
        _ = try await cluster.run(["watch", job, "--progress", "none"])
        let ended = try await cluster.status(job)
        #expect(ended.state == "done" && ended.failed == 0 && ended.failures.isEmpty, "\(ended)")
        #expect(ended.stored == 5_461)
        for worker in cluster.workers { #expect(!worker.said.contains("damaged"), "\(worker.said)") }
        try await cluster.stop()
    }

    @Test func everyCommandSaysThatTheFileIsLocked() async throws {
        let scratch = try Scratch()
        let (file, other) = (scratch.url("locked.mbtiles"), scratch.url("free.mbtiles"))
        for url in [file, other] { try await SQLiteShell.archive(url, body: SQLiteShell.red, zoom: 2, in: scratch) }
        let lock = try await SQLiteShell.Lock(file, in: scratch)
        let commands = [
            ["estimate", "bbox(-180,-85,180,85)", "--zoom", "0-2", "--tileset", "mbtiles:\(file.path)"],
            ["inspect", file.path], ["verify", file.path],
            ["convert", file.path, "--format", "pmtiles", "-o", scratch.url("x.pmtiles").path],
            ["diff", other.path, file.path, "-o", scratch.url("x.patch").path],
            ["packs", file.path, "--tileset", "pixels", "-o", scratch.url("packs").path],
        ]
        // Each waits for some seconds, so all at once.
        let running = try commands.map { (name: $0[0], program: try Daemon($0, in: scratch)) }
        for (name, program) in running {
            try await Eventually.holds("\(name) ends") { !program.isRunning }
            #expect(program.status == 75, "\(name): \(program.status) \(program.said)")
            #expect(program.said.contains("is locked by another program"), "\(name): \(program.said)")
            #expect(program.said.contains("Try again") && !program.said.contains("damaged"), "\(name)")
        }
        try await lock.release()
        #expect(try await Program.run(["inspect", file.path], in: scratch).status == 0)
    }
}
