import Foundation
import Notifications
import TestSupport
import Testing
import Wire

@testable import Coordinator

/// A coordinator over real sockets that notifies a real HTTP server.
@Suite(.timeLimit(.minutes(15)))
struct NotifierServiceTests {
    private static let secret = Array("a secret of the test".utf8)

    private func received(_ server: ScriptedServer) throws -> [EventNotification] {
        try server.requests.map { try EventNotification(json: Data($0.body)) }
    }

    @Test func aReceiverLearnsOfPackageAndEndInThisOrder() async throws {
        let server = try ScriptedServer { request in .reply(request.earlier == 0 ? 500 : 204) }
        defer { server.stop() }
        let receiver = try NotificationReceiver(server.url, secret: Self.secret)
        let fixture = try Fixture {
            $0.receivers = [receiver]
            $0.catalogBaseURL = "https://maps.example.com/offline/"
        }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let job = try await talker.submit(try Fixture.submission()).job
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await worker.work() }
                defer { group.cancelAll() }
                _ = try await talker.watch(job) { $0.state == "done" }
            }
            try await Eventually.holds("the end arrives") { server.requests.count >= 3 }
            let found = try received(server)
            #expect(found.map(\.kind) == ["package-published", "package-published", "job-done"])
            #expect(found[0] == found[1], "the same delivery again")
            #expect(found[2].seq > found[1].seq && found.allSatisfy { $0.job == job })
            let package = try #require(found[1].package)
            #expect(package.id == "P0" && package.version == 1 && package.path == "packages/1/P0.mbtiles")
            #expect(package.url == "https://maps.example.com/offline/packages/1/P0.mbtiles")
            for request in server.requests {
                let time = try #require(request.headers["packhorse-timestamp"].flatMap { Int64($0) })
                let expected = NotificationSignature.text(request.body, timestamp: time, secret: Self.secret)
                #expect(request.headers["packhorse-signature"] == expected)
            }
            // Commands read the same from the log.
            let question = PBGetEvents.make { ($0.job, $0.notifications) = (job, true) }
            guard case .events(let events) = try await talker.ask(.getEvents(question)) else { throw Talker.Silence() }
            #expect(events.events.map { Array($0.notification) } == server.requests.dropFirst().map(\.body))
        }
    }

    /// A job that ends while the receiver is away is delivered by the next run; nothing waits for the receiver.
    @Test func aReceiverThatIsAwayDelaysNothingAndIsNamedByHealth() async throws {
        let server = try ScriptedServer(isOpen: false) { _ in .reply(204) }
        defer { server.stop() }
        let receiver = try NotificationReceiver("\(server.url)/hook?token=SECRET")
        let fixture = try Fixture { $0.receivers = [receiver] }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let job = try await talker.submit(try Fixture.submission()).job
            _ = try await talker.ask(.cancelJob(.make { $0.job = job }))
            let finding = try await Eventually.get("health names the receiver") {
                guard case .health(let health) = try await talker.ask(.ping(PBPing())) else { throw Talker.Silence() }
                return health.findings.first { $0.code == "notifications-wait" }
            }
            #expect(finding.level == "warn")
            #expect(finding.text.contains("notifications to \(server.url) wait"), "\(finding.text)")
            #expect(!finding.text.contains("SECRET"))
        }
        try server.open()
        try await fixture.withCoordinator { _ in
            try await Eventually.holds("it arrives") { !server.requests.isEmpty }
        }
        #expect(try received(server).allSatisfy { $0.kind == "job-cancelled" && $0.job == 1 })
        try await fixture.withCoordinator { service in
            // The first one comes once more only if that run ended between its answer and the record of it.
            let talker = try Talker(service.controlEndpoint)
            let job = try await talker.submit(try Fixture.submission(id: "P1")).job
            _ = try await talker.ask(.cancelJob(.make { $0.job = job }))
            try await Eventually.holds("the next one arrives") { try received(server).last?.job == job }
            #expect(try received(server).map(\.job).filter { $0 == job }.count == 1 && server.requests.count <= 3)
        }
    }
}
