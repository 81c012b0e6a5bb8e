import Foundation
import TestSupport
import Testing

/// Big jobs plan in flat memory; a full disk stops work and loses nothing.
@Suite(.serialized)
struct LimitsTests {
    @Test(.timeLimit(.programs))
    func germanyPlansInLittleMemory() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 0, in: scratch)
        let outcome = try await cluster.run(["submit", "DE", "--tileset", origin.tileset, "--zoom", "0-14"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let job = try await cluster.status(outcome.output.trimmingCharacters(in: .whitespacesAndNewlines))
        #expect(job.tiles > 150_000)
        #expect(job.batches < 1000, "batches are cells, not tiles")
        #expect(try #require(cluster.coordinator).peakMemory < 120 << 20)
        try await cluster.stop()
    }

    @Test(.enabled(if: geteuid() == 0, "skipped: mounting a small disk needs root"), .timeLimit(.programs))
    func aFullDiskStopsTheJobUntilThereIsRoom() async throws {
        let scratch = try Scratch()
        let data = scratch.url("small")
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        let mounted = try await Program.run(
            URL(filePath: "/bin/mount"), ["-t", "tmpfs", "-o", "size=12m", "tmpfs", data.path], in: scratch)
        try #require(mounted.status == 0, "\(mounted.errors)")
        do {
            try await fillAndFree(data, scratch)
        } catch {
            _ = try await Program.run(URL(filePath: "/bin/umount"), ["-l", data.path], in: scratch)
            throw error
        }
        _ = try await Program.run(URL(filePath: "/bin/umount"), ["-l", data.path], in: scratch)
    }

    private func fillAndFree(_ data: URL, _ scratch: Scratch) async throws {
        let origin = try await DemoOrigin(in: scratch)
        let ballast = data.appending(path: "ballast")
        let cluster = try await Cluster(workers: 1, in: scratch, data: data)
        try Data(count: 11 << 20).write(to: ballast)
        let job = try await cluster.submit(["LI", "--tileset", origin.tileset, "--zoom", "0-13", "--timeout", "20"])
        let worker = try #require(cluster.workers.first)
        try await Eventually.holds("the worker says that the disk is full") {
            worker.said.contains("disk-full")
        }
        #expect(try await cluster.status(job).state == "fetching", "a full disk is waited for")
        try FileManager.default.removeItem(at: ballast)
        let outcome = try await cluster.run(["watch", job, "--json", "--progress", "none"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let ended = try Job(json: outcome.output)
        #expect(ended.failed == 0)
        let verified = try await Program.run(["verify", cluster.catalog.path], in: scratch)
        #expect(verified.status == 0, "\(verified.errors)")
        try await cluster.stop()
    }
}
