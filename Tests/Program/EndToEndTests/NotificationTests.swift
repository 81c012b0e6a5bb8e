import Foundation
import Notifications
import Synchronization
import TestSupport
import Testing

/// Set by a test, read by a server.
private final class Flag: Sendable {
    private let value = Mutex(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}

/// Notifications of a real coordinator to a real HTTP server.
@Suite(.serialized)
struct NotificationTests {
    private static let secret = "a secret of the test"
    private static let job = ["LI", "--zoom", "0-8", "--tileset"]

    private func arguments(_ server: ScriptedServer, _ scratch: Scratch) throws -> [String] {
        let file = scratch.url("secret")
        try Data("\(Self.secret)\n".utf8).write(to: file)
        chmod(file.path, 0o600)
        return [
            "--notify", "http://user:word@127.0.0.1:\(server.port)/hook?token=SECRET", "--notify-secret-file",
            file.path,
        ]
    }

    /// The verified notifications of a server, in order.
    private func received(_ server: ScriptedServer) throws -> [EventNotification] {
        try server.requests.map { request in
            let time = try #require(request.headers["packhorse-timestamp"].flatMap { Int64($0) })
            let expected = NotificationSignature.text(request.body, timestamp: time, secret: Array(Self.secret.utf8))
            #expect(request.headers["packhorse-signature"] == expected)
            let content = try EventNotification(json: Data(request.body))
            #expect(request.headers["packhorse-delivery"] == content.id)
            #expect(request.headers["packhorse-event"] == content.kind)
            return content
        }
    }

    /// The receiver hangs while the coordinator is killed; only the notification in flight is sent again.
    @Test(.timeLimit(.programs))
    func aKilledCoordinatorLosesNothingAndRepeatsOnlyWhatWasInFlight() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let isUp = Flag()
        let server = try ScriptedServer { request in
            // The first one is answered, so that its position is stored.
            request.earlier == 0 || isUp.isSet ? .reply(204) : .silence
        }
        defer { server.stop() }
        let cluster = try await Cluster(workers: 1, coordinatorArguments: try arguments(server, scratch), in: scratch)
        _ = try await cluster.build(Self.job + [origin.tileset])
        // It is sent again after its timeout, which may pass before this test looks.
        try await Eventually.holds("the second request hangs") { server.requests.count >= 2 }
        let coordinator = try #require(cluster.coordinator)
        try await coordinator.killNow()
        let before = server.requests.count
        isUp.set()
        try await cluster.startCoordinator()
        try await Eventually.holds("it is sent again") { server.requests.count == before + 1 }
        _ = try await cluster.build(["EE"] + Self.job.dropFirst() + [origin.tileset])
        try await Eventually.holds("the next job is notified") { server.requests.count == before + 3 }
        let found = try received(server)
        let repeated = before - 1
        #expect(
            found.map(\.kind) == ["package-published"] + Array(repeating: "job-done", count: repeated + 1)
                + ["package-published", "job-done"])
        #expect(Set(found.dropFirst().prefix(repeated + 1).map(\.id)).count == 1 && Set(found.map(\.id)).count == 4)
        #expect(found.map(\.job) == Array(repeating: 1, count: before + 1) + [2, 2])
        #expect(found.map(\.seq) == found.map(\.seq).sorted())
        let package = try #require(found[0].package)
        let file = cluster.catalog.appending(path: package.path)
        #expect(try Data(contentsOf: file).count == Int(package.size) && package.id == "LI")
        #expect(package.url == nil, "the catalog has no public address")
        // Nothing of the address or the secret is in a log.
        for log in [coordinator.said, cluster.coordinator?.said ?? ""] {
            #expect(!log.contains("SECRET") && !log.contains("word") && !log.contains(Self.secret), "\(log)")
        }
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func aFailedJobAndABlockedOriginAreNotified() async throws {
        let scratch = try Scratch()
        let server = try ScriptedServer { _ in .reply(200, body: Array("thanks".utf8)) }
        let tiles = try ScriptedServer { request in
            request.path.hasPrefix("/refused/") ? .reply(403) : .reply(429, headers: [("Retry-After", "600")])
        }
        defer {
            server.stop()
            tiles.stop()
        }
        let cluster = try await Cluster(
            workers: 1,
            coordinatorArguments: try arguments(server, scratch) + ["--notify-on", "job-failed,origin-blocked"],
            in: scratch)
        for name in ["refused", "busy"] {
            let file = scratch.url("\(name).yaml")
            let text = "id: \(name)\nurl: \(tiles.url)/\(name)/{z}/{x}/{y}.pbf\nformat: pbf\nzoom: 0-8\n"
            try Data(text.utf8).write(to: file)
            _ = try await cluster.submit(["LI", "--zoom", "0-4", "--tileset", file.path])
            if name == "refused" {
                try await Eventually.holds("the failure arrives") { server.requests.count == 1 }
            }
        }
        try await Eventually.holds("the block arrives") { server.requests.count == 2 }
        let found = try received(server)
        #expect(found.map(\.kind) == ["job-failed", "origin-blocked"])
        #expect(found[0].job == 1 && found[0].state == "failed" && found[0].reason?.isEmpty == false)
        #expect(found[1].job == nil && found[1].state == "blocked")
        #expect(found[1].origin?.name == "127.0.0.1:\(tiles.port)" && (found[1].origin?.seconds ?? 0) > 500)
        let events = try await cluster.run(["events"])
        #expect(events.output.contains("origin 127.0.0.1:\(tiles.port) asked to wait"), "\(events.output)")
        try await cluster.stop()
    }

    @Test(
        .timeLimit(.programs),
        arguments: [
            (["--notify", "hooks.example.com"], 64), (["--notify-on", "job-done"], 64),
            (["--notify", "http://127.0.0.1:9/", "--notify-on", "lunch"], 64),
            (["--notify", "http://127.0.0.1:9/", "--notify-secret-file", "/nonexistent"], 66),
            (["--notify", "http://127.0.0.1:9/", "--notify-secret-file", "/dev/null"], 66),
        ] as [([String], Int32)])
    func wrongOptionsAreRefusedBeforeAnythingIsCreated(_ options: [String], _ status: Int32) async throws {
        let scratch = try Scratch()
        let data = scratch.url("data")
        let outcome = try await Program.run(["coordinator", "--data", data.path] + options, in: scratch)
        #expect(outcome.status == status, "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: data.path))
    }
}
