import Blobs
import Digests
import Errors
import Foundation
import Shards
import TestSupport
import Testing
import Tiles
import Wire
import ZeroMQ

@testable import Worker

/// A real worker on a real link, with a real blob store and a real HTTP origin.
@Suite(.timeLimit(.minutes(15)))
struct WorkerServiceTests {
    @Test func aBatchIsFetchedIntoADurableShardAndCommittedUntilAcknowledged() async throws {
        try await withWorker { coordinator, stable in
            let origin = try Stable.origin()
            let (peer, session, hello) = try await coordinator.welcome()
            #expect(hello.blobStore == stable.store.id)
            let token = coordinator.token(1)
            try await coordinator.say(.offer(try stable.offer(token, origin.url)), to: peer, about: session)
            let (commit, _, _) = try await coordinator.expect { Self.commit($0, of: token) }
            let result = commit.fetch
            #expect((result.stored, result.empty, result.failed) == (20, 1, 0))
            let shard = try #require(Digest(bytes: result.shard))
            let reader = try ShardReader(try #require(try stable.store.url(of: shard)), expecting: shard)
            #expect(reader.entries.count == 21)
            // Unacknowledged, it comes again.
            let (again, _, _) = try await coordinator.expect { Self.commit($0, of: token) }
            #expect(again == commit)
            let ack = PBAck.make { ($0.token, $0.digest) = (token, result.shard) }
            try await coordinator.say(.ack(ack), to: peer, about: session)
            _ = try await coordinator.expect { message -> Bool? in
                if case .progress(let body) = message, body.leases.isEmpty { true } else { nil }
            }
        }
    }

    @Test func failedTilesAreNamedInTheCommit() async throws {
        try await withWorker { coordinator, stable in
            let origin = try ScriptedServer { request in
                request.path == "/1/1/0.png"
                    ? .reply(200, headers: [("Content-Type", "text/html")], body: Array("<html>Sorry</html>".utf8))
                    : .reply(200, headers: [("Content-Type", "image/png")], body: Stable.png)
            }
            let (peer, session, _) = try await coordinator.welcome()
            let token = coordinator.token(1)
            try await coordinator.say(.offer(try stable.offer(token, origin.url)), to: peer, about: session)
            let (commit, _, _) = try await coordinator.expect { Self.commit($0, of: token) }
            #expect((commit.fetch.stored, commit.fetch.failed) == (20, 1))
            #expect(commit.fetch.failures.first?.tile.tileID == TileID(zoom: 1, x: 1, y: 0))
            #expect(commit.fetch.failures.first?.cause == "html-page")
        }
    }

    @Test func workThatCannotBeDoneFailsWithItsCause() async throws {
        try await withWorker { coordinator, stable in
            let (peer, session, _) = try await coordinator.welcome()
            var broken = try stable.offer(coordinator.token(1), "http://127.0.0.1:9")
            broken.fetch.tileset = Data("{}".utf8)
            var miscounted = try stable.offer(coordinator.token(2), "http://127.0.0.1:9")
            miscounted.fetch.tiles = 4711
            let orphan = PBOffer.make {
                $0.token = coordinator.token(3)
                $0.merge = .make {
                    $0.manifest = Rig.digest
                    $0.packageID = "EE"
                }
            }
            var causes: Set<String> = []
            for offer in [broken, miscounted, orphan] {
                try await coordinator.say(.offer(offer), to: peer, about: session)
                let (fail, _, _) = try await coordinator.expect { if case .fail(let body) = $0 { body } else { nil } }
                #expect(fail.token == offer.token)
                causes.insert("\(fail.cause) \(fail.retriable)")
            }
            #expect(causes == ["bad-tileset false", "bad-batch false", "manifest-missing true"])
        }
    }

    @Test func aForgottenSessionSaysHelloWithWhatItHolds() async throws {
        try await withWorker { coordinator, stable in
            let origin = try ScriptedServer { _ in .silence }
            let (peer, session, _) = try await coordinator.welcome()
            let token = coordinator.token(1)
            try await coordinator.say(.offer(try stable.offer(token, origin.url)), to: peer, about: session)
            _ = try await coordinator.expect { message -> Bool? in
                if case .progress(let body) = message, body.leases.map(\.token) == [token] { true } else { nil }
            }
            try await coordinator.say(.unknownSession(PBUnknownSession()), to: peer, about: session)
            let (hello, _, frame) = try await coordinator.expect { if case .hello(let body) = $0 { body } else { nil } }
            #expect(hello.held.map(\.token) == [token])
            #expect(frame.session == session)
            origin.stop()
        }
    }

    @Test func aCoordinatorThatCameBackIsGreeted() async throws {
        try await withWorker { coordinator, stable in
            _ = try await coordinator.welcome()
            let endpoint = coordinator.endpoint
            await coordinator.link.close()
            let second = try RouterLink(bind: [endpoint], security: .plain)
            var greeted = false
            while !greeted {
                for inbound in try await second.receive(upTo: .seconds(5)) {
                    if case .hello = try Frame(decoding: inbound.bytes).message { greeted = true }
                }
            }
            await second.close()
        }
    }

    @Test func drainingGivesBackWhatRunsAndLeavesNoFile() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let coordinator = try FakeCoordinator()
        let origin = try ScriptedServer { _ in .silence }
        let service = stable.service(coordinator.endpoint)
        let trigger = Trigger()
        let worker = Task { try await trigger.run(service) }
        let (peer, session, _) = try await coordinator.welcome()
        let token = coordinator.token(1)
        try await coordinator.say(.offer(try stable.offer(token, origin.url)), to: peer, about: session)
        _ = try await coordinator.expect { message -> Bool? in
            if case .progress(let body) = message, body.leases.map(\.token) == [token] { true } else { nil }
        }
        await trigger.shutDown()
        let (given, _, _) = try await coordinator.expect { if case .return(let body) = $0 { body } else { nil } }
        #expect(given.tokens == [token])
        _ = try await coordinator.expect { message -> Bool? in if case .bye = message { true } else { nil } }
        try await worker.value
        let left = try FileManager.default.contentsOfDirectory(atPath: stable.folder.path + "/tmp")
        #expect(left.isEmpty)
        origin.stop()
        await coordinator.link.close()
    }

    @Test func aFinalRejectionIsAnErrorThatSaysWhy() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let coordinator = try FakeCoordinator()
        let service = stable.service(coordinator.endpoint)
        async let ended: Void = service.run()
        let (_, peer, frame) = try await coordinator.expect { if case .hello(let body) = $0 { body } else { nil } }
        let reject = PBReject.make { ($0.code, $0.text) = ("wrong-blob-store", "Another folder.") }
        try await coordinator.say(.reject(reject), to: peer, about: frame.session)
        do {
            try await ended
            Issue.record("The worker must not end quietly.")
        } catch let error as WorkerError {
            #expect(error.code == .rejected)
            #expect(error.message.contains("Another folder."))
        }
        await coordinator.link.close()
    }

    @Test func aCoordinatorOfAnotherMajorVersionEndsTheWorkerWithOneLine() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let coordinator = try FakeCoordinator()
        let service = stable.service(coordinator.endpoint)
        let worker = Task { try await service.run() }
        let (_, peer, frame) = try await coordinator.expect { if case .hello(let body) = $0 { body } else { nil } }
        var bytes = try Frame(session: frame.session, seq: 1, .unknownSession(PBUnknownSession())).encoded()
        bytes[4] = WireVersion.major + 1
        _ = await coordinator.link.send([(peer, bytes)])
        do {
            try await worker.value
            Issue.record("the worker ended as if all were well")
        } catch let error as WorkerError {
            #expect(error.code == .rejected)
            #expect(error.message.contains("version-mismatch"))
        }
        await coordinator.link.close()
    }

    private static func commit(_ message: Message, of token: UInt64) -> PBCommit? {
        if case .commit(let body) = message, body.token == token { body } else { nil }
    }

    /// Runs a worker while `body` runs, and stops it afterwards.
    private func withWorker(_ body: (FakeCoordinator, Stable) async throws -> Void) async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let coordinator = try FakeCoordinator()
        let service = stable.service(coordinator.endpoint)
        let worker = Task { try await service.run() }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(coordinator, stable))
        } catch {
            result = .failure(error)
        }
        worker.cancel()
        _ = await worker.result
        await coordinator.link.close()
        try result.get()
    }
}
