import Foundation
import Testing

/// A coordinator that cannot start leaves nothing that it created, and everything that was there.
@Suite(.serialized)
struct RefusedStartTests {
    /// The files and folders below a folder, sorted.
    private func content(_ folder: URL) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
    }

    @Test(.timeLimit(.programs))
    func aStartThatFailsLeavesNothing() async throws {
        let scratch = try Scratch()
        let cluster = try await Cluster(workers: 0, in: scratch)
        let (work, file) = (try Ports.endpoint(), scratch.url("file"))
        try Data().write(to: file)
        let place = scratch.url("place")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let away = "tcp://192.0.2.1:7470"
        let cases: [(arguments: [String], status: Int32)] = [
            (["--control", cluster.control, "--work", work], 75),
            (["--control", work, "--work", cluster.work], 75),
            (["--control", "tcp://127.0.0.1:*", "--work", work, "--blob-bind", cluster.control], 75),
            (["--control", away, "--work", work], 77),
            (["--control", away, "--work", work, "--insecure"], 78),
            (["--keys", scratch.url("none").path], 66),
            (["--catalog", file.path], 73),
            (["--blobs", file.path], 73),
            (["--signing-key", file.path], 77),
        ]
        for (arguments, status) in cases {
            let data = place.appending(path: "deep/data")
            let outcome = try await Program.run(["coordinator", "--data", data.path] + arguments, in: scratch)
            #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
            #expect(try content(place) == [], "\(arguments)")
        }
        let own = ["--data", place.path, "--control", cluster.control, "--work", work]
        #expect(try await Program.run(["coordinator"] + own, in: scratch).status == 75)
        #expect(try content(place) == [], "a folder that was there stays, and stays empty")
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func aStartThatFailsKeepsTheStateOfEarlierRuns() async throws {
        let scratch = try Scratch()
        let first = try await Cluster(workers: 0, in: scratch)
        let twin = ["coordinator", "--data", first.data.path, "--control", try Ports.endpoint()]
        let refused = try await Program.run(twin + ["--work", try Ports.endpoint()], in: scratch)
        #expect(refused.status == 75 && refused.errors.contains("another coordinator is using"), "\(refused.errors)")
        #expect(try await first.run(["health"]).status == 0, "the running one goes on")
        try await first.stop()
        let before = try content(first.data)
        #expect(before.contains("state.sqlite") && before.contains("blobs/store-id"))
        let other = try await Cluster(workers: 0, in: scratch)
        let outcome = try await Program.run(twin + ["--work", other.work], in: scratch)
        #expect(outcome.status == 75, "\(outcome.errors)")
        #expect(try content(first.data).filter { !$0.hasPrefix("state.sqlite-") } == before)
        try await other.stop()
    }
}
