import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Notifications

/// Deliveries over real sockets.
@Suite(.timeLimit(.minutes(15)))
struct NotifierTests {
    private static let secret = Array("a secret of the test".utf8)
    private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    /// Runs a notifier over a log while `body` runs.
    private func withNotifier(
        _ receivers: [NotificationReceiver], _ log: MemoryLog, _ body: (Notifier) async throws -> Void
    ) async throws {
        let notifier = try Notifier(
            receivers, log: log, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await notifier.start()
        do { try await body(notifier) } catch {
            await notifier.stop()
            throw error
        }
        await notifier.stop()
    }

    private func sequence(_ server: ScriptedServer) throws -> [UInt64] {
        try server.requests.map { try EventNotification(json: Data($0.body)).seq }
    }

    @Test func aReceiverVerifiesWhatItGets() async throws {
        let server = try ScriptedServer { _ in .reply(204) }
        defer { server.stop() }
        let log = MemoryLog()
        let address = "http://user:word@127.0.0.1:\(server.port)/hook?token=x"
        try await withNotifier([try NotificationReceiver(address, secret: Self.secret)], log) { notifier in
            log.add(wall: Self.now)
            notifier.wake()
            try await Eventually.holds("it arrives") { !server.requests.isEmpty }
        }
        let request = try #require(server.requests.first)
        #expect(request.method == "POST" && request.path == "/hook?token=x")
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.headers["packhorse-event"] == "job-done")
        #expect(request.headers["packhorse-delivery"] == "id1")
        #expect(request.headers["authorization"] == "Basic dXNlcjp3b3Jk")
        let timestamp = try #require(request.headers["packhorse-timestamp"].flatMap { Int64($0) })
        #expect(abs(Self.now / 1_000 - timestamp) < 100)
        #expect(
            request.headers["packhorse-signature"]
                == NotificationSignature.text(request.body, timestamp: timestamp, secret: Self.secret))
        #expect(try EventNotification(json: Data(request.body)).text == "job 1 done")
    }

    /// The second attempt is the same delivery; what comes later waits.
    @Test func errorsAreRepeatedAndTheOrderStays() async throws {
        let server = try ScriptedServer { request in
            request.earlier < 2
                ? .reply(request.earlier == 0 ? 500 : 503, headers: [("Retry-After", "1")])
                : .reply(200, body: [1, 2, 3])
        }
        defer { server.stop() }
        let log = MemoryLog()
        let receiver = try NotificationReceiver(server.url)
        try await withNotifier([receiver], log) { notifier in
            log.add(count: 3, wall: Self.now)
            notifier.wake()
            try await Eventually.holds("the first one fails") {
                notifier.troubles.first.map { $0.trouble.why.hasPrefix("HTTP 50") } == true
            }
            try await Eventually.holds("all are handled") { log.now.positions[receiver.id] == 3 }
            #expect(notifier.troubles.isEmpty)
        }
        #expect(try sequence(server) == [1, 1, 1, 2, 3])
        #expect(Set(server.requests.prefix(3).map { $0.headers["packhorse-delivery"] }) == ["id1"])
        #expect(server.requests.allSatisfy { $0.headers["packhorse-signature"] == nil })
    }

    @Test func aReceiverThatHangsDelaysNoOther() async throws {
        let dead = try ScriptedServer { _ in .silence }
        let live = try ScriptedServer { _ in .reply(204) }
        defer {
            dead.stop()
            live.stop()
        }
        let log = MemoryLog()
        let receivers = [try NotificationReceiver(dead.url), try NotificationReceiver(live.url)]
        try await withNotifier(receivers, log) { notifier in
            log.add(count: 250, wall: Self.now)
            notifier.wake()
            try await Eventually.holds("the other one gets all") { log.now.positions[receivers[1].id] == 250 }
            #expect(try sequence(live) == Array(1...250))
            #expect(log.now.largestPage == 100, "the log is read in pages")
            #expect(dead.requests.count < 20, "it is not asked for each event that the other one gets")
            try await Eventually.holds("the request ends after its time limit") { dead.requests.count >= 2 }
            #expect(try sequence(dead).prefix(2) == [1, 1])
            #expect(notifier.troubles.map(\.receiver.id) == [receivers[0].id])
        }
        #expect(log.now.positions[receivers[0].id] == 0)
    }

    @Test func anAnswerIsItsStatusHoweverLongItsBodyIs() async throws {
        let endless = Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + [UInt8](repeating: 65, count: 1 << 20)
        let server = try ScriptedServer { _ in .stall(endless) }
        defer { server.stop() }
        let log = MemoryLog()
        let receiver = try NotificationReceiver(server.url)
        try await withNotifier([receiver], log) { notifier in
            log.add(wall: Self.now)
            notifier.wake()
            try await Eventually.holds("it counts as delivered") { log.now.positions[receiver.id] == 1 }
        }
        #expect(server.requests.count == 1)
    }

    @Test func aRedirectIsNotFollowed() async throws {
        let other = try ScriptedServer { _ in .reply(204) }
        let server = try ScriptedServer { [other] request in
            request.earlier == 0 ? .reply(307, headers: [("Location", other.url)]) : .reply(204)
        }
        defer {
            server.stop()
            other.stop()
        }
        let log = MemoryLog()
        let receiver = try NotificationReceiver(server.url)
        try await withNotifier([receiver], log) { notifier in
            log.add(wall: Self.now)
            notifier.wake()
            try await Eventually.holds("it is sent again to the same place") { log.now.positions[receiver.id] == 1 }
        }
        #expect(other.requests.isEmpty && server.requests.count == 2)
    }

    @Test func aRefusedOneIsSkippedAndOnlyWantedKindsAreSent() async throws {
        let server = try ScriptedServer { request in .reply(request.earlier == 0 ? 410 : 200) }
        defer { server.stop() }
        let log = MemoryLog()
        let receiver = try NotificationReceiver(server.url, kinds: [.jobFailed])
        try await withNotifier([receiver], log) { notifier in
            log.add(.jobFailed, wall: Self.now)
            log.add(.jobDone, wall: Self.now)
            log.add(.jobFailed, wall: Self.now)
            notifier.wake()
            try await Eventually.holds("both are handled") { log.now.positions[receiver.id] == 3 }
        }
        #expect(try sequence(server) == [1, 3])
    }

    /// A receiver that is not there when the notifier ends gets everything from the next one.
    @Test func aNewStartContinuesWhereTheLastOneStopped() async throws {
        let server = try ScriptedServer(isOpen: false) { _ in .reply(204) }
        defer { server.stop() }
        let log = MemoryLog()
        log.add(count: 2, wall: Self.now)
        let receiver = try NotificationReceiver(server.url)
        try await withNotifier([receiver], log) { notifier in
            log.add(count: 2, wall: Self.now)
            notifier.wake()
            try await Eventually.holds("it is not there") { !notifier.troubles.isEmpty }
        }
        try server.open()
        try await withNotifier([receiver], log) { _ in
            try await Eventually.holds("it gets what it missed") { log.now.positions[receiver.id] == 4 }
        }
        #expect(try sequence(server) == [3, 4], "what was logged before the receiver was known is not sent")
    }
}
