import Blobs
import Digests
import Foundation
import Scheduling
import Testing
import Tiles
import Wire
import ZeroMQ

@testable import Coordinator

/// Shards of one job as sources of another, through real sockets and a real store.
@Suite(.timeLimit(.minutes(15)))
struct SharedShardsTests {
    private func submission(_ id: String) throws -> PBSubmit {
        try Fixture.submission(request: id, id: id, zooms: 11...12)
    }

    @Test func anEndedJobsShardsServeAJobBesideItAcrossARestart() async throws {
        // Long leases: on a busy machine a short one would be lost, and the order of things with it.
        let fixture = try Fixture { $0.leaseSeconds = 120 }
        let shard = try await fixture.withCoordinator { service -> Data in
            let talker = try Talker(service.controlEndpoint)
            let first = try await talker.submit(try submission("A"))
            let second = try await talker.submit(try submission("B"))
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), session: 77)
            // The second job's batch waits for the first one's; it is taken and not answered.
            let held = try await drive(worker, holding: second.job) {
                try await talker.watch(first.job) { _ in true }.state == "done"
            }
            #expect(held.fetch.sources.count == 1)
            return try #require(held.fetch.sources.first)
        }
        let digest = try #require(Digest(bytes: shard))
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let kept = try fixture.blobs().url(of: digest)
            #expect(kept != nil, "the second job has not ended")
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs(), session: 77)
            let offer = try await drive(worker, holding: 2) { true }
            #expect(offer.fetch.sources == [shard])
            let commit = try worker.result(of: offer)
            #expect(commit.fetch.shard == shard, "both jobs made the same bytes")
            try await worker.talker.say(.commit(commit))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await worker.work() }
                defer { group.cancelAll() }
                _ = try await talker.watch(2) { $0.state == "done" }
                let deadline = ContinuousClock.now + .seconds(60)
                while try fixture.blobs().url(of: digest) != nil, ContinuousClock.now < deadline {
                    _ = try await talker.watch(2) { _ in true }
                }
            }
            let gone = try fixture.blobs().url(of: digest)
            #expect(gone == nil, "it is not needed any more")
        }
    }

    /// Works on everything but the fetches of one job until `isReached` and such a fetch was offered; returns that offer.
    private func drive(_ worker: FakeWorker, holding job: UInt64, until isReached: () async throws -> Bool) async throws
        -> PBOffer
    {
        var held: PBOffer?
        let deadline = ContinuousClock.now + .seconds(60)
        try await worker.talker.say(worker.hello())
        while ContinuousClock.now < deadline {
            if let held, try await isReached() { return held }
            try await worker.talker.say(.ready(.make { $0.credit = 2 }))
            for message in try await worker.receive(upTo: .milliseconds(200)) {
                switch message {
                case .offer(let offer):
                    if offer.job == job, case .fetch = offer.work {
                        held = offer
                    } else {
                        try await worker.talker.say(.commit(try worker.result(of: offer)))
                    }
                case .unknownSession: try await worker.talker.say(worker.hello())
                default: break
                }
            }
        }
        throw Talker.Silence()
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
