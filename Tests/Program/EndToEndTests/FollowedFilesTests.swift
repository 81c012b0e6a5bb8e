import Foundation
import TestSupport
import Testing

/// Schedules whose list of packages and tileset file are read again at each run: real processes.
@Suite(.serialized, .timeLimit(.programs))
struct FollowedFilesTests {
    private let scratch: Scratch
    private let folder: URL
    private let list: URL
    private let tileset: URL

    init() throws {
        scratch = try Scratch()
        folder = scratch.url("schedules")
        (list, tileset) = (folder.appending(path: "maps.yaml"), folder.appending(path: "tiles.yaml"))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func write(_ text: String, _ file: URL) throws { try Data(text.utf8).write(to: file) }

    private func add(_ cluster: Cluster, _ list: URL? = nil) async throws -> Program.Outcome {
        try await cluster.run([
            "schedule", "add", "maps", "--every", "monthly 3 02:30", "--follow-files", "--packages",
            (list ?? self.list).path, "--tileset", tileset.path, "--zoom", "0-6",
        ])
    }

    private func runs(_ cluster: Cluster) async throws -> Set<String> {
        let ran = try await cluster.run(["schedule", "run", "maps"])
        try #require(ran.status == 0, "\(ran.errors)")
        let job = ran.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let watched = try await cluster.run(["watch", job, "--progress", "none"])
        #expect(watched.status == 0, "\(watched.errors)")
        let status = try await cluster.run(["status", job, "--json"])
        let object = try #require(try JSONSerialization.jsonObject(with: Data(status.output.utf8)) as? [String: Any])
        let packages = try #require(object["packages"] as? [[String: Any]])
        return Set(packages.compactMap { $0["id"] as? String })
    }

    @Test func eachRunReadsTheFilesAgain() async throws {
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(
            workers: 1, coordinatorArguments: ["--schedule-files", folder.path], in: scratch)
        try write("id: demo\nurl: \(origin.tileset)\n", tileset)
        try write("- LI\n", list)
        let added = try await add(cluster)
        try #require(added.status == 0, "\(added.errors)")
        #expect(try await runs(cluster) == ["LI"])
        try write("- LI\n- region: MC\n  id: monaco\n", list)
        #expect(try await runs(cluster) == ["LI", "monaco"])

        try write("- LI\n- region: Nowhere\n", list)
        let wrong = try await cluster.run(["schedule", "run", "maps"])
        #expect(wrong.status != 0 && wrong.errors.contains("'maps.yaml' entry 2 ('Nowhere')"), "\(wrong.errors)")
        try FileManager.default.removeItem(at: list)
        let gone = try await cluster.run(["schedule", "run", "maps"])
        #expect(gone.status != 0 && gone.errors.contains("maps.yaml"), "\(gone.errors)")
        // What is published stays, and the next good file is taken.
        #expect(FileManager.default.fileExists(atPath: cluster.catalog.appending(path: "packages/1/LI.mbtiles").path))
        try write("- MC\n", list)
        #expect(try await runs(cluster) == ["MC"])
        // The tileset file is read again too.
        try write("id: demo\nurl: \(origin.tileset)\nno_such_key: 1\n", tileset)
        let key = try await cluster.run(["schedule", "run", "maps"])
        #expect(key.status != 0 && key.errors.contains("no_such_key"), "\(key.errors)")
        try await cluster.stop()
    }

    @Test func filesOutsideOfTheFolderAreRefused() async throws {
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(
            workers: 0, coordinatorArguments: ["--schedule-files", folder.path], in: scratch)
        try write("id: demo\nurl: \(origin.tileset)\n", tileset)
        let outside = scratch.url("outside.yaml")
        try write("- LI\n", outside)
        let refused = try await add(cluster, outside)
        #expect(refused.status != 0 && refused.errors.contains("is not below"), "\(refused.errors)")
        let link = folder.appending(path: "link.yaml")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: outside)
        let linked = try await add(cluster, link)
        #expect(linked.status != 0 && linked.errors.contains("is not below"), "\(linked.errors)")
        try await cluster.stop()

        let plain = try await Cluster(workers: 0, in: scratch)
        try write("- LI\n", list)
        let unread = try await add(plain)
        #expect(unread.status != 0 && unread.errors.contains("--schedule-files"), "\(unread.errors)")
        try await plain.stop()
    }
}
