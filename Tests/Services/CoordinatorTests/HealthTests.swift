import Files
import Foundation
import GRDB
import Notifications
import Scheduling
import TestSupport
import Testing
import Wire

@testable import Coordinator

/// What the coordinator says about its health while it serves.
@Suite(.timeLimit(.minutes(15)))
struct HealthTests {
    /// The answer to a ping as soon as it has a finding.
    private func findings(_ talker: Talker, among codes: Set<String>) async throws -> [PBHealthFinding] {
        let deadline = ContinuousClock.now + .seconds(100)
        while ContinuousClock.now < deadline {
            guard case .health(let health) = try await talker.ask(.ping(PBPing())) else { throw Talker.Silence() }
            #expect(health.state == "serving")
            let found = health.findings.filter { codes.contains($0.code) }
            if !found.isEmpty { return found }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Talker.Silence()
    }

    @Test(
        arguments: [(50_000_000, "warn", "catalog-nearly-full"), (4_096, "fail", "catalog-full")]
            as [(UInt64, String, String)])
    func aDiskWithoutSpaceIsNamed(_ free: UInt64, _ level: String, _ code: String) async throws {
        let fixture = try Fixture { $0.diskSpace = { _ in DiskSpace(free: free, total: 1_000_000_000_000) } }
        try await fixture.withCoordinator { service in
            let found = try await findings(try Talker(service.controlEndpoint), among: [code])
            #expect(found.map(\.level) == [level])
            #expect(found.first?.text.contains(fixture.options.catalog.path) == true)
            #expect(found.first?.hint.contains("free space") == true)
        }
    }

    @Test func aScheduleWhoseLastFiringMadeNoJobIsNamed() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let wanted = try PBSchedule.make {
                $0.id = "nightly"
                $0.every = "daily 1:00"
                $0.submission = Data(try Frame(session: 1, seq: 0, .submit(try Fixture.submission())).encoded())
            }
            _ = try await talker.ask(.putSchedule(.make { $0.schedule = wanted }))
        }
        let store = try StateStore(folder: fixture.options.data)
        try await store.perform {
            try $0.execute(sql: "UPDATE schedule SET next = next - 100 * 86400000, spec = x'00'")
        }
        await store.close()
        // It is known after a restart too.
        for _ in 0..<2 {
            try await fixture.withCoordinator { service in
                let found = try await findings(try Talker(service.controlEndpoint), among: ["schedule-failed"])
                #expect(found.map(\.level) == ["warn"])
                #expect(found.first?.text.contains("schedule 'nightly'") == true)
                #expect(found.first?.hint.contains("packhorse schedule run nightly") == true)
            }
        }
    }

    @Test func anOriginThatAskedToWaitIsNamed() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            var submission = try Fixture.submission()
            let tileset =
                #"{"version":1,"id":"demo","templates":["https://tiles.example/{z}/{x}/{y}.pbf"],"scheme":"xyz","format":"pbf","#
                + #""minzoom":0,"maxzoom":14,"headers":{},"concurrency":4,"connectSeconds":10,"totalSeconds":60,"#
                + #""stallSeconds":20,"contact":"maps@example.com","http2":false,"maxTileBytes":1000000}"#
            submission.tileset = Data(tileset.utf8)
            _ = try await talker.submit(submission)
            guard case .origins(let origins) = try await talker.ask(.listOrigins(PBListOrigins())) else {
                throw Talker.Silence()
            }
            let name = try #require(origins.origins.first?.origin)
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            try await worker.talker.say(worker.hello())
            _ = try await worker.next { if case .welcome = $0 { true } else { nil } }
            try await worker.talker.say(
                .progress(
                    .make {
                        $0.origins = [
                            .make {
                                $0.origin = name
                                $0.requests = 10
                                $0.throttled = 10
                                $0.retryAfterMs = 3_000_000
                            }
                        ]
                    }))
            let found = try await findings(talker, among: ["origin-blocked"])
            #expect(found.map(\.level) == ["warn"])
            #expect(found.first?.text.contains("origin '\(name)' asked clients to wait") == true)
            // It is a line of the log too, and a notification.
            let line = try await Eventually.get("the log names it") {
                guard case .events(let events) = try await talker.ask(.getEvents(PBGetEvents())) else {
                    throw Talker.Silence()
                }
                return events.events.first { $0.kind == "origin-blocked" }
            }
            #expect(line.text.hasPrefix("origin \(name) asked to wait"))
            #expect(try EventNotification(json: line.notification).origin?.name == name)
        }
    }
}
