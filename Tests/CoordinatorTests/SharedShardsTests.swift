import Foundation
import Scheduling
import Shards
import Testing
import Tiles
import Wire
import ZeroMQ

@testable import Coordinator

/// Shards of one job as sources of another, through real sockets and a real store.
@Suite(.timeLimit(.minutes(4)))
struct SharedShardsTests {
    private func submission(_ id: String) throws -> PBSubmit {
        try Fixture.submission(request: id, id: id, zooms: 11...12)
    }

    @Test func anEndedJobsShardsServeAJobBesideItAcrossARestart() async throws {
        let fixture = try Fixture()
        let session: UInt64 = 77
        let shard = try await fixture.withCoordinator { service -> Data in
            let talker = try Talker(service.controlEndpoint)
            let first = try await talker.submit(try submission("A"))
            let second = try await talker.submit(try submission("B"))
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), session: session)
            try await worker.talker.say(worker.hello())
            try await worker.talker.say(.ready(.make { $0.credit = 2 }))
            let offer = try await worker.nextOffer()
            #expect(offer.job == first.job)
            #expect(offer.fetch.sources.isEmpty)
            let commit = try worker.result(of: offer)
            try await worker.talker.say(.commit(commit))
            // The second job's batch, which waited, and the first one's package; in whichever order.
            var held: PBOffer?
            while held == nil {
                let next = try await worker.nextOffer()
                if case .fetch = next.work { held = next } else { try await finish(next, worker) }
            }
            #expect(held?.job == second.job)
            #expect(held?.fetch.sources == [commit.fetch.shard])
            try await worker.talker.say(.ready(.make { $0.credit = 2 }))
            while try await talker.watch(first.job, until: { _ in true }).state != "done" {
                for message in try await worker.receive(upTo: .milliseconds(200)) {
                    if case .offer(let offer) = message { try await finish(offer, worker) }
                }
            }
            return commit.fetch.shard
        }
        let digest = try #require(Digest(bytes: shard))
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), session: session)
            let kept = try fixture.blobs().url(of: digest)
            #expect(kept != nil, "the second job has not ended")
            try await worker.talker.say(worker.hello())
            try await worker.talker.say(.ready(.make { $0.credit = 1 }))
            let offer = try await worker.nextOffer()
            #expect(offer.job == 2)
            #expect(offer.fetch.sources == [shard])
            try await finish(offer, worker)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await worker.work() }
                defer { group.cancelAll() }
                _ = try await talker.watch(2) { $0.state == "done" }
                // Both jobs made the same bytes, and nobody needs them now.
                let deadline = ContinuousClock.now + .seconds(60)
                while try fixture.blobs().url(of: digest) != nil, ContinuousClock.now < deadline {
                    _ = try await talker.watch(2) { _ in true }
                }
            }
            let gone = try fixture.blobs().url(of: digest)
            #expect(gone == nil)
        }
    }

    private func finish(_ offer: PBOffer, _ worker: FakeWorker) async throws {
        try await worker.talker.say(.commit(try worker.result(of: offer)))
        try await worker.talker.say(.ready(.make { $0.credit = 2 }))
    }

    @Test func aBoxInACatalogIsBoundAsABoxAlone() async throws {
        let fixture = try Fixture { $0.bboxTileLimit = 10 }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            var body = try submission("A")
            body.kind = "catalog"
            body.packages[0].kind = "bbox"
            let problem = try await talker.problem(.submit(body))
            #expect(problem.code == "tile-limit")
            #expect(problem.text.contains("The box of package 'A' has 20 tiles; the limit is 10."))
            body.tileLimit = 20
            #expect(try await talker.submit(body).tiles == 20)
            body.requestID = "other"
            body.packages[0].kind = "anything"
            #expect(try await talker.problem(.submit(body)).code == "bad-request")
        }
    }
}
