import ArgumentParser
import ClusterClient
import Foundation
import Testing
import Wire
import ZeroMQ

@testable import Commands

/// A request whose coordinator has ended is sent to the one that takes its place.
struct LostRequestTests {
    /// A coordinator that reads one request.
    private func request(at endpoint: String, answering: Bool) async throws -> UInt64 {
        let router = try RouterLink(bind: [endpoint], security: .plain)
        var found: [Inbound] = []
        while found.isEmpty { found = try await router.receive(upTo: .seconds(10)) }
        let frame = try Frame(decoding: found[0].bytes)
        if answering {
            let answer = Frame(
                session: frame.session, seq: 1, re: frame.seq, .submitted(.make { $0.job = 7 }))
            #expect(await router.send([(found[0].peer, try answer.encoded())]).isEmpty)
            try await Task.sleep(for: .milliseconds(500))
        }
        await router.close()
        return frame.seq
    }

    @Test(.timeLimit(.minutes(15)))
    func aRequestIsSentAgainWhenTheLinkIsConnectedAgain() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "lost-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") } }
        let endpoint = "ipc://\(folder.path)/control"
        let client = try ControlClient(
            endpoint: endpoint, security: .plain, allowPlain: false, timeout: .seconds(200))
        async let asked = client.submit(.make { $0.requestID = "once" })
        var numbers: [UInt64] = []
        for round in 0..<4 { numbers.append(try await request(at: endpoint, answering: round == 3)) }
        #expect(try await asked.job == 7)
        #expect(Set(numbers).count == 1, "it is the same request each time: \(numbers)")
        await client.close()
    }

    /// The blobs of a cancelled job are removed in the background; on a busy machine a `retry` right after `cancel` meets
    /// that.
    @Test(.timeLimit(.minutes(15)))
    func anOrderWaitsForAJobThatIsBusy() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "busy-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") } }
        let endpoint = "ipc://\(folder.path)/control"
        let router = try RouterLink(bind: [endpoint], security: .plain)
        let retry = try RetryCommand.parse(["1", "--coordinator", endpoint, "--timeout", "200"])
        async let ordered: Void = retry.run()
        let answers: [Message] = [
            .problem(
                .make {
                    $0.code = "busy"
                    $0.text = "The shards of job 1 are being removed."
                    $0.retriable = true
                }), .ordered(.make { $0.changed = 1 }),
        ]
        for answer in answers {
            var asked: [Inbound] = []
            while asked.isEmpty { asked = try await router.receive(upTo: .seconds(10)) }
            let frame = try Frame(decoding: asked[0].bytes)
            let bytes = try Frame(session: frame.session, seq: 1, re: frame.seq, answer).encoded()
            #expect(await router.send([(asked[0].peer, bytes)]).isEmpty)
        }
        try await ordered
        await router.close()
    }
}
